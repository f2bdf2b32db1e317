"""The product's rows."""

from routines_app.models.agent import Agent, AgentRuntime, AgentVersion, ModelKey, ModelWord
from routines_app.models.beat import Beat
from routines_app.models.connector import AppSignIn, Connector, ConnectorState, SignInAttempt
from routines_app.models.conversation import Conversation, ConversationTurn
from routines_app.models.folder_change import FolderChange
from routines_app.models.hand_change import HandChange
from routines_app.models.notice import Delivery, Notice
from routines_app.models.routine import OnSpan, Routine, RoutineTotals, RoutineVersion, Trigger
from routines_app.models.run import Fire, Run, Step

__all__ = [
    "Agent",
    "AgentRuntime",
    "AgentVersion",
    "AppSignIn",
    "Beat",
    "Connector",
    "ConnectorState",
    "Conversation",
    "ConversationTurn",
    "Delivery",
    "Fire",
    "FolderChange",
    "HandChange",
    "ModelKey",
    "ModelWord",
    "Notice",
    "OnSpan",
    "Routine",
    "RoutineTotals",
    "RoutineVersion",
    "Run",
    "SignInAttempt",
    "Step",
    "Trigger",
]
