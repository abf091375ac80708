/** `GETTING_STARTED.md`: for the person, on the way with a coding agent. Without its mark. */
export const gettingStartedGuide = `# Getting started with a coding agent

Your coding agent makes a bot in this directory with you, or works on the one in \`server/\`; \`AGENTS.md\` tells it how.

## 1. Have these

- Python 3.11 or later and [uv](https://docs.astral.sh/uv/), which installs everything else.
- A coding agent that reads \`AGENTS.md\` (or \`ASSISTANT.md\`, which leads there).
- Accounts for the services that your bot will use. To begin with: one that hears, one that thinks, one that speaks.
  \`botcli init --list-options\` names all of them; some run on your own machine and need no account.

## 2. Give your agent current documents

What models know about voice bots is old. The context hub is an index of documents, examples and sources that your agent
asks instead:

\`\`\`sh
uv tool install "pipecat-ai[cli]"
pipecat context-hub install
\`\`\`

It registers itself with the coding agents that it finds, prints for others what to paste into their settings, and builds its
index, which takes some minutes and about 900 MB. Agents load it when they start, so begin a new session afterwards.

## 3. Say what you want

Open your agent in this directory and describe the bot. Say:

- who talks to it, and how they reach it: a browser, an app, a telephone;
- what it should know and do, and what it must not do;
- how it should sound: language, tone, how much it says;
- which services you have accounts for.

For example: "A bot that takes reservations for a small restaurant by telephone, in English and French. It asks for name,
number of people and time, reads them back, and writes them to a file. It never promises a table outside opening hours."

## 4. Talk to it early

Ask for the smallest thing that talks, and talk to it, before anything else is built. Then one change at a time. Ask for
a scenario for everything that went wrong once; \`pipecat eval run\` plays them all.

## 5. Put it on the service

\`botcli cloud auth login\`, then \`botcli cloud deploy\` in \`server/\`. Your agent knows the rest.

Or make a bot without an agent: \`botcli init .\` in a terminal asks you a few questions.
`;
