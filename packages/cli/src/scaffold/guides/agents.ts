/** The text of `AGENTS.md` without its version marker. It explains to coding agents and people how to build a bot with botcli. */
export const codingAgentsGuideText = `# Building a voice bot here

Read this before you write code. It is for coding agents and for people. It covers what is specific to this kind of
bot, not what you already know. Exact interfaces change: look them up (see "Looking things up") instead of writing them
from memory.

## Rules

1. Start from generated code. If there is no \`server/bot.py\` yet, create one in this directory with \`botcli init\` and
   options. Do not write the first version by hand: \`botcli init\` knows the versions, variables and handlers of each
   combination, and most examples that you remember get them wrong.
2. Ask before you choose paid services for somebody. Say which accounts a choice needs.
3. Keep secrets in \`server/.env\` and in secret sets of the service. Never put them in code, in git, in an image, in a
   log, or in your output. Do not print \`.env\` to check it: \`botcli project check\` tells you which variables are empty.
4. Change one thing, then run it. A bot that imports without errors is not yet a bot that talks.
5. Keep generated code clean: run \`uv run ruff format\`, \`uv run ruff check\` and \`uv run pyright\`, all in \`server/\`.

## Creating a project

\`\`\`sh
botcli init --list-options                      # all available values, as JSON
botcli init --dry-run -t smallwebrtc -m cascade \\
  --stt deepgram_stt --llm openai_llm --tts cartesia_tts
botcli init . -t smallwebrtc -m cascade \\
  --stt deepgram_stt --llm openai_llm --tts cartesia_tts --eval
\`\`\`

With any such option, \`botcli init\` asks no questions. It reports everything that is missing or wrong at once, with the
valid values. \`--dry-run\` prints the resolved configuration and writes nothing; save it to a file to use it with \`--config\`.
Your own files are never overwritten: \`botcli init\` lists the conflicts and writes nothing.

Do not generate a second time. \`botcli project add soniox_stt\` (or a transport, or a feature) merges the change with your
edits, and \`botcli project update\` does the same for a newer version of botcli. Both show the difference with \`--dry-run\`.
If an edit and the change touch the same lines, nothing is changed. Add \`--conflict-markers\` to get both into the file, as
git does, and resolve the conflict; \`botcli project check\` fails until no marker is left.

## Choosing

**How people reach the bot.**

| they have | transport | needs |
|---|---|---|
| a browser or an app | \`smallwebrtc (lightrtc)\` | nothing; STUN and TURN servers for strict networks |
| a browser or an app, through rooms at Daily | \`daily (hostedrtc)\` | an account there; on the service, \`botcli cloud rooms connect daily\` |
| several people in a room, through LiveKit rooms | \`livekit\` | a LiveKit server, your own or hosted |
| your own program that sends audio | \`websocket\` | nothing |
| a telephone, with a number at a carrier | \`twilio (carrier1)\`, \`telnyx (carrier2)\`, \`plivo (carrier3)\`, \`exotel (carrier4)\` | an account there |
| a telephone, without a number yet | \`daily_pstn (hostedrtc_pstn)\` | a number bought from Daily |
| a telephone that the bot calls | \`daily_pstn (hostedrtc_pstn)\` or \`twilio_daily_sip (carrier1_hostedrtc_sip)\`, \`dial-out\` | permission to dial out |

\`--transport\` accepts both names. Add \`smallwebrtc\` to a telephone transport, to talk to the bot from a browser while you
build it.

**Cascade or realtime.** A cascade has three services: speech to text (STT), a language model (LLM) and text to speech
(TTS). You can replace each one, everything that is said is available as text, and tools and evaluations work best. If in
doubt, choose a cascade. A realtime service does all three: it answers sooner and hears tone, but gives you less control.

## How a bot works

Both the runner on your machine and the service call \`bot(runner_args)\` in \`server/bot.py\` once for each session. It opens
a transport and runs one conversation in \`run_bot\`. One process serves one session. Do not keep anything that belongs to a
person in module variables.

**Frames and pipeline.** Everything that happens is a frame: a piece of audio, a transcript, a token, an interruption.
Processors form a line and pass frames on. Their order is the program:

\`\`\`
transport.input() -> stt -> user_aggregator -> llm -> tts -> transport.output() -> assistant_aggregator
\`\`\`

- The user aggregator decides when somebody has finished speaking, and adds what was said to the context.
- The assistant aggregator comes after the output, so that the context has only what was really spoken: when a person
  interrupts, the rest of the answer was never said.
- Your own processors must pass on every frame that they do not handle. A frame that is not passed on is silence.

**Context.** \`LLMContext\` holds the conversation. Instructions for the bot go into \`system_instruction\` of the model's
\`Settings\`, never into the context as a system message. To make the bot start speaking, add a \`developer\` message and
queue an \`LLMRunFrame\`, as \`greet\` does. To have exact words spoken, queue a \`TTSSpeakFrame\`.

**Spoken language.** No lists, headings, links, emojis or abbreviations. Write numbers as people say them. Use short
sentences: the first one is spoken while the model generates the next. Say so in the instruction.

**Tools.** A tool is an async function with typed arguments and a docstring, passed to \`LLMContext(tools=[...])\`. Its
first argument is the call's parameters, and it answers through their callback. If a tool takes more than a second, have
the bot say that it is looking. A tool that changes something in the world must be safe to call twice.

**Ending.** \`runner.cancel()\` ends at once, as when the other side has left. To say goodbye first, let the words be spoken
and end the worker after that. End a call from a tool, not by looking for words in the transcript.

**Silence and interruption.** People interrupt, and the bot handles that. People also say nothing:
\`pipeline_idle_timeout_secs\` ends a session in which nothing happens. Ask once before you give up on somebody.

**Settings.** Give a service a key of \`Settings\` only if you have a value. \`os.getenv("X") or NOT_GIVEN\` keeps the
library's default; an empty text or None replaces it with nothing. Do not write today's default model into code.

## Looking things up

Models and arguments change from month to month. Look in this order:

1. the context hub, if your tools show one: an index of documentation, examples and source code of the library, over MCP;
2. the installed source: \`uv run python -c "import pipecat, os; print(os.path.dirname(pipecat.__file__))"\`;
3. https://docs.pipecat.ai/llms.txt.

Everything marked there as deprecated is removed in 2.0: do not use it, whatever an example says. If the hub has no index
yet, ask before you build it: that takes minutes and about 900 MB. Tools see it from their next session on.

## Trying it

\`\`\`sh
cd server
cp .env.example .env        # then fill it in
uv sync
uv run bot.py               # http://localhost:7860 for a browser
\`\`\`

You cannot hear the bot, so let scenarios talk to it. With \`--eval\`, the bot accepts evaluations in addition to its other
transports:

\`\`\`sh
uv run bot.py                                             # one terminal
uv run --group evals pipecat eval run evals/text.yaml     # another
\`\`\`

Begin with scripted scenarios (\`turns:\`) for what must always work: the greeting, one good path, one refusal, one
interruption. Then let a simulated person (\`persona:\` and \`goal:\`) find what you did not think of. Write a scenario for
each bug before you fix it. Judge meaning (\`eval:\`), not wording; use \`text_contains\` only for names and numbers.

## Your own client

With \`--client-framework\` there is a web client in \`client/\`. \`src/conversation.ts\` manages one conversation and is
independent of how it is shown; change what people see in the other files. Whatever a client sends as \`body\` of its start
request is \`runner_args.body\` in the bot. Validate it there: anybody can send it.

## Longer conversations

A single instruction that keeps growing makes a bot that forgets its rules. If a conversation has stages (greet,
identify, do, confirm), give each stage its own instruction and its own few tools, and pass on only what the next one needs.

## Deploying to the service

\`\`\`sh
cd server
uv lock                                                   # deploys the versions that you tested
botcli cloud secrets set NAME-secrets --file .env         # this name is in deploy.toml
botcli cloud deploy
botcli cloud agent logs NAME --follow
\`\`\`

- \`deploy.toml\` sets the name of the agent, its secrets, its size and how many instances wait for sessions.
  \`min_agents = 0\` costs nothing while nobody talks, but the first session waits for an instance to start. 1 keeps one
  ready, and is the default if you deploy an image.
- Clients and calls start sessions, each through a transport that \`bot.py\` accepts; the README says which. The service's
  own page, \`Talk to the bot\`, needs \`websocket\`. \`botcli cloud agent start NAME\` alone opens no transport: a bot that waits
  for one ends with an error.
- Never put a \`.env\` into an image: it would override the secrets of the service.
- A session ends when \`bot\` returns, when the other side has left, or at its time limit. The disk of the instance is
  deleted with the session: store whatever you want to keep somewhere else.
- Web clients have only the public key, which can only start sessions. Keep the private key to yourself.
`;
