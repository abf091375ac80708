import { expect, test } from 'vitest';
import { isStandardDockerfile } from './standard-dockerfile.ts';

const pipecatQuickstart = `FROM dailyco/pipecat-base:latest

# Enable bytecode compilation
ENV UV_COMPILE_BYTECODE=1
ENV UV_LINK_MODE=copy

RUN --mount=type=cache,target=/root/.cache/uv \\
    --mount=type=bind,source=uv.lock,target=uv.lock \\
    # The lock file must match.
    --mount=type=bind,source=pyproject.toml,target=pyproject.toml \\
    uv sync --locked --no-install-project --no-dev

COPY ./bot.py bot.py
`;

test.each([
  ["Pipecat's quickstart", pipecatQuickstart],
  ['Pipecat with Windows line ends', pipecatQuickstart.replaceAll('\n', '\r\n')],
  ['requirements.txt', 'FROM dailyco/pipecat-base\nRUN pip install --no-cache-dir -r requirements.txt\nCOPY . .\n'],
])('isStandardDockerfile accepts the Dockerfile of %s', (_, text) => {
  expect(isStandardDockerfile(text)).toBe(true);
});

test.each([
  'FROM python:3.12',
  'FROM dailyco/pipecat-base AS build',
  'RUN apt-get update && apt-get install -y ffmpeg',
  'RUN uv sync && apt-get install -y ffmpeg',
  'RUN uv sync || true',
  'RUN uv sync --extra gpu',
  'RUN pip install torch',
  'ENV LANGUAGE_MODEL=large',
  'ENV UV_LINK_MODE=copy MODEL=large',
  'COPY --chown=1 --from=build /models /models',
  'ADD https://example.com/model.bin .',
  'CMD ["python", "other.py"]',
  'USER nobody',
])('isStandardDockerfile rejects the instruction %s', (line) => {
  expect(isStandardDockerfile(`${pipecatQuickstart}${line}\n`)).toBe(false);
});
