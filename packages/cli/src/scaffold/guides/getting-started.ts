/** The text of `GETTING_STARTED.md` without its version marker. It is for users of a coding agent. */
export const gettingStartedGuideText = `# Getting started with a coding agent

Your coding agent builds a bot with you in this directory, or works on the one in \`server/\`. \`AGENTS.md\` tells it how.

## 1. What you need

- Python 3.11 or later and [uv](https://docs.astral.sh/uv/), which installs everything else.
- A coding agent that reads \`AGENTS.md\` (or \`ASSISTANT.md\`, which points to it).
- Accounts for the services that your bot will use. To begin with: speech to text, a language model and text to speech.
  \`botcli init --list-options\` lists all services; some run on your own machine and need no account.

## 2. Give your agent current documentation

What models know about voice bots is out of date. The context hub is an index of documentation, examples and source code
that your agent can query:

\`\`\`sh
uv tool install "pipecat-ai[cli]"
pipecat context-hub install
\`\`\`

This registers the hub with each coding agent that it finds, prints what to paste into the settings of others, and builds
the index, which takes a few minutes and about 900 MB. Agents load the hub when they start, so start a new session
afterwards.

## 3. Say what you want

Open your agent in this directory and describe the bot. Say:

- who talks to it, and how they reach it: a browser, an app, a telephone;
- what it should know and do, and what it must not do;
- how it should sound: language, tone, how much it says;
- which services you have accounts for.

For example: "A bot that takes reservations for a small restaurant by telephone, in English and French. It asks for name,
number of people and time, reads them back, and writes them to a file. It never promises a table outside opening hours."

## 4. Talk to it early

Ask for the smallest bot that talks, and talk to it before you build anything else. Then make one change at a time. Ask for
a scenario for everything that went wrong once; \`pipecat eval run\` runs them all.

## 5. Deploy it to the service

Run \`botcli cloud auth login\`, then \`botcli cloud deploy\` in \`server/\`. Your agent knows the rest.

You can also create a bot without an agent: run \`botcli init .\` in a terminal.
`;
