# One image for every process of a production installation; compose says which it runs.
FROM python:3.12-slim-bookworm

RUN apt-get update \
    && apt-get install -y --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --create-home --home-dir /srv/routines routines

WORKDIR /srv/routines/app
COPY requirements.txt .
RUN pip install --no-cache-dir --require-hashes -r requirements.txt
COPY . .
RUN mkdir -p /srv/routines/var && chown routines /srv/routines/var

ENV ROUTINES_MODE=production \
    ROUTINES_VAR=/srv/routines/var \
    DJANGO_SETTINGS_MODULE=routines_app.settings \
    PYTHONUNBUFFERED=1

USER routines
EXPOSE 8000
# Once for each version, before its processes start: python manage.py prepare
CMD ["uvicorn", "routines_app.asgi:application", "--host", "0.0.0.0", "--port", "8000", \
     "--no-proxy-headers", "--no-access-log", "--no-server-header"]
