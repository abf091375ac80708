/** `AGENTS.md`: what a coding agent, or a person in a hurry, has to know to build on the service. Without its mark. */
export const agentsGuide = `# Building a voice bot here

Read this before you write code. It is for coding agents and for people; it says what is particular to bots of this
kind, not what you know already. Exact interfaces change: look them up (see "Looking things up") and do not write them
from memory.

## Rules

1. Start from generated code. If there is no \`server/bot.py\` yet, make one with \`botcli init\` and options, in this
   directory. Do not write the first version by hand: the versions, variables and handlers of each combination are
   known there, and are wrong in most examples you remember.
2. Ask before you choose paid services for somebody. Say which accounts a choice needs.
3. Secrets stay in \`server/.env\`, and in secret sets of the service. Never in code, in git, in an image, in a log, or
   in what you print. Do not read \`.env\` aloud to check it: \`botcli project check\` tells which names are empty.
4. Change one thing, then run it. A bot that imports is not a bot that talks.
5. Keep generated code formatted: \`uv run ruff format\`, \`uv run ruff check\`, \`uv run pyright\`, all in \`server/\`.

## Making a project

\`\`\`sh
botcli init --list-options                      # every value there is, as JSON
botcli init --dry-run -t lightrtc -m cascade \\
  --stt deepgram_stt --llm openai_llm --tts cartesia_tts
botcli init . -t lightrtc -m cascade \\
  --stt deepgram_stt --llm openai_llm --tts cartesia_tts --eval
\`\`\`

With any such option nothing is asked. Everything missing or wrong is told at once, with the values that would do.
\`--dry-run\` prints the resolved configuration and writes nothing; saved to a file it can be given back by \`--config\`.
A file of yours is never overwritten: conflicts are listed, and nothing is written.

Later, do not generate again: \`botcli project add soniox_stt\` (or a transport, or a feature) merges the change with what was
edited since, \`botcli project update\` does so for a newer version of botcli, and both show the difference by \`--dry-run\`.
Where an edit and the change touch the same lines, nothing is changed. Add \`--conflict-markers\` to get both into the file, as
git does it, and choose; \`botcli project check\` fails until no marker is left.

## Choosing

**How people reach the bot.**

| they have | transport | needs |
|---|---|---|
| a browser or an app | \`lightrtc\` | nothing; STUN and TURN servers for strict networks |
| a browser or an app, by way of a vendor's rooms | \`hostedrtc\` or \`livekit\` | an account there; the service starts no rooms yet |
| a program of yours that sends audio | \`websocket\` | nothing |
| a telephone, and you have a number at a carrier | \`carrier1\` to \`carrier4\` | that carrier |
| a telephone, and you have none | \`hostedrtc_pstn\` | a number bought with the rooms |
| a telephone that the bot rings | \`hostedrtc_pstn\` or \`carrier1_hostedrtc_sip\`, \`dial-out\` | permission to dial out |

Take \`lightrtc\` besides a telephone transport: then you can talk to the bot from a browser while you build it.

**Cascade or realtime.** A cascade is three services: one hears (STT), one thinks (LLM), one speaks (TTS). Each can be
exchanged, everything said is there as text, tools and evaluations work best: take it when in doubt. A realtime service
does all three: it answers sooner and hears tone, and gives you less to hold on to.

## How a bot works

\`bot(runner_args)\` in \`server/bot.py\` is called once for each session, by the runner on your machine and by the service
alike. It opens a transport and holds one conversation in \`run_bot\`. One process serves one session; keep nothing in
module variables that belongs to a person.

**Frames and pipeline.** Everything that happens is a frame: a piece of audio, a transcript, a token, an interruption.
Processors stand in a line and pass frames on. The order is the program:

\`\`\`
transport.input() -> stt -> user_aggregator -> llm -> tts -> transport.output() -> assistant_aggregator
\`\`\`

- The user aggregator decides when somebody has finished speaking, and writes what was said into the context.
- The assistant aggregator stands behind the output, so that the context holds what was really spoken: when a person
  interrupts, the rest of the answer was never said.
- A processor of yours passes on every frame that it does not want. A frame that is swallowed is silence.

**Context.** \`LLMContext\` holds the conversation. What the bot is goes into \`system_instruction\` of the model's
\`Settings\`, never as a system message into the context. To make the bot say something by itself, add a \`developer\`
message and queue an \`LLMRunFrame\`, as \`greet\` does. To have exact words spoken, queue a \`TTSSpeakFrame\`.

**Words that are spoken.** No lists, headings, links, emojis or abbreviations. Numbers as one says them. Short
sentences: the first one is heard while the next is being thought. Say so in the instruction.

**Tools.** A tool is an async function with typed arguments and a docstring, handed to \`LLMContext(tools=[...])\`; its
first argument is the call's parameters, and it answers through their callback. Tell people that you are looking when a
tool takes more than a second. A tool that changes something in the world has to bear being called twice.

**Ending.** \`runner.cancel()\` ends at once, as when the other side is gone. To say goodbye first, let the words go out
and end the worker after them; end a call from a tool, not by looking for words in the transcript.

**Silence and interruption.** People interrupt; that is handled. People also say nothing: \`pipeline_idle_timeout_secs\`
ends a session in which nothing happens. Ask once before you give up on somebody.

**Settings.** Give a service a key of \`Settings\` only when you have a value. \`os.getenv("X") or NOT_GIVEN\` leaves the
library's own choice alone; an empty text or None replaces it by nothing. Do not write today's default model into code.

## Looking things up

Models and arguments change from month to month. In this order:

1. the context hub, if your tools show one: an index of documents, examples and sources of the library, over MCP;
2. the installed source: \`uv run python -c "import pipecat, os; print(os.path.dirname(pipecat.__file__))"\`;
3. https://docs.pipecat.ai/llms.txt.

What is marked as deprecated there goes away in 2.0: do not use it, whatever an example says. If the hub has no index
yet, ask before you build it: that takes minutes and about 900 MB. Tools see it from their next session on.

## Trying it

\`\`\`sh
cd server
cp .env.example .env        # then fill it in
uv sync
uv run bot.py               # http://localhost:7860 for a browser
\`\`\`

You cannot hear it, so let scenarios talk to it. With \`--eval\` the bot takes evaluations beside its other transports:

\`\`\`sh
uv run bot.py                                             # one terminal
uv run --group evals pipecat eval run evals/text.yaml     # another
\`\`\`

Begin with scripted scenarios (\`turns:\`) for what must always be so: the greeting, one good path, one refusal, one
interruption. Then let a simulated person (\`persona:\` and \`goal:\`) find what you did not think of. Write down each bug
as a scenario before you mend it. Judge meaning (\`eval:\`), not wording; keep \`text_contains\` for names and numbers.

## A client of your own

With \`--client-framework\` there is a web client in \`client/\`. \`src/conversation.ts\` holds one conversation and knows nothing of
how it is shown; change what people see in the other files. Whatever a client sends in \`body\` of its start request is
\`runner_args.body\` in the bot: check it there, it comes from anybody.

## Longer conversations

One instruction that grows page by page makes a bot that forgets its rules. When a conversation has stages (greet,
identify, do, confirm), give each its own instruction and its own few tools, and pass on only what the next needs.

## Putting it on the service

\`\`\`sh
cd server
uv lock                                                   # what runs there is what you tried
botcli cloud secrets set NAME-secrets --file .env         # the name stands in deploy.toml
botcli cloud deploy
botcli cloud agent logs NAME --follow
\`\`\`

- \`deploy.toml\` names the agent, its secrets, its size and how many instances wait. \`min_agents = 0\` costs nothing while
  nobody talks; the first session then waits for a start. 1 keeps one ready.
- Clients and calls start sessions, each by a way that \`bot.py\` takes; the README says which. The service's own page,
  \`Talk to it\`, needs \`websocket\`. \`botcli cloud agent start NAME\` alone opens no way in: a bot that waits for one ends
  with an error.
- Never put a \`.env\` into an image: it would win over the secrets of the service.
- A session ends when \`bot\` returns, when the other side is gone, or at its time limit. Whatever has to be kept goes
  somewhere else than the instance's disk: that goes away with the session.
- Web clients hold the public key only; it may start sessions and do nothing else. The private key stays with you.
`;
