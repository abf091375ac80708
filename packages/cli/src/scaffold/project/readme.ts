import { machineNeeds } from '../catalogue/machine-needs.ts';
import { listed } from '../configuration/issues.ts';
import { dialsOut } from './bot-calls.ts';
import { looks } from './bot-sight.ts';
import { secretSetOf } from './deployment.ts';
import type { Plan } from './plan.ts';
import { dependenciesOf } from './pyproject.ts';
import { carrierSetUp } from './readme-carriers.ts';
import { clientSection } from './readme-client.ts';
import { entryPoints } from './readme-service.ts';
import { requiredVariables, variableGroups } from './variables.ts';

/** `README.md`: how to run, try, connect and deploy this very project. It names only files that are there. */
export function readmeFile(plan: Plan, paths: readonly string[]): string {
  const sections = [
    `# ${plan.configuration.project_name.replace(/([\\`*_[\]<>#])/g, '\\$1')}`,
    introduction(plan),
    setUp(plan),
    run(plan),
    ...carrierSetUp(plan),
    ...callOut(plan),
    ...evaluate(plan),
    ...clientSection(plan),
    ...observe(plan),
    ...deploy(plan),
    agent,
    files(paths),
  ];
  return `${sections.join('\n\n')}\n`;
}

function introduction(plan: Plan): string {
  const roles = {
    stt: 'Hears',
    llm: 'Thinks',
    tts: 'Speaks',
    realtime: 'Hears, thinks and speaks',
    video: 'Shows a face',
  };
  const rows = plan.services.map(
    ({ service, vendor }) => `| ${roles[service.kind]} | ${service.label} | ${vendor.site} |`,
  );
  return [
    'A voice bot, made by `botcli init`. It is reached by:',
    '',
    ...plan.transports.map(({ label, value }) => `- ${label} (\`${value}\`)`),
    '',
    '| | service | account, or more about it |',
    '|---|---|---|',
    ...rows,
  ].join('\n');
}

function setUp(plan: Plan): string {
  const needed = requiredVariables(plan).length;
  const fill =
    variableGroups(plan).length === 0
      ? []
      : [
          'cp .env.example .env' +
            (needed > 0 ? `   # then fill in the ${needed === 1 ? 'line' : `${needed} lines`} without a #` : ''),
        ];
  return [
    '## Set up',
    '',
    `You need Python ${plan.lowest.python} or later and [uv](https://docs.astral.sh/uv/).`,
    ...plan.services.flatMap(({ service }) => machineNeeds(service).map((need) => `${service.label}: ${need}.`)),
    '',
    ...shell('cd server', ...fill, 'uv sync'),
    '',
    'Without uv, a virtual environment and pip do as well; then write `python bot.py` for `uv run bot.py`:',
    '',
    ...shell(
      'python3 -m venv .venv && . .venv/bin/activate',
      `pip install ${dependenciesOf(plan)
        .map((one) => JSON.stringify(one))
        .join(' ')}`,
    ),
  ].join('\n');
}

/** What the page that the runner brings calls these, in its list; the first is what it begins with. */
const onRunnersPage: Readonly<Record<string, string>> = {
  lightrtc: '`SmallWebRTC`',
  hostedrtc: '`Daily`',
  websocket: '`WebSocket`',
  livekit: '`LiveKit`',
};

function run(plan: Plan): string {
  const has = (wanted: string) => plan.transports.some(({ value }) => value === wanted);
  const offered = plan.transports.flatMap(({ value }) => onRunnersPage[value] ?? []);
  const choice = has('lightrtc') ? ' and' : `, choose ${listed(offered)} and`;
  const page = offered.length === 0 ? [] : ['', `Open http://localhost:7860${choice} allow the microphone.`];
  const key =
    has('hostedrtc') && offered.length > 1
      ? ['`DAILY_API_KEY` is for hosted rooms: while it is empty, take another way.']
      : [];
  const sees = looks(plan)
    ? [
        '',
        'The model looks at the camera when it needs to, by the tool `look` in `bot.py`: choose a model that takes pictures.',
      ]
    : [];
  return ['## Run', '', ...shell('cd server', 'uv run bot.py'), ...page, ...key, ...sees].join('\n');
}

function callOut(plan: Plan): readonly string[] {
  if (!dialsOut(plan)) return [];
  const whom = plan.has('room-dial-out')
    ? '{"phone_number": "+15551234567"}'
    : '{"sip_uri": "sip:+15551234567@YOUR-DOMAIN.sip.twilio.com"}';
  const request = `{"transport": "daily", "body": {"dialout_settings": ${whom}}}`;
  return [
    [
      '## Ring somebody',
      '',
      'The rooms’ vendor has to allow your account to dial out. The bot makes the room for the call by itself:',
      '',
      ...shell("curl http://localhost:7860/start -H 'Content-Type: application/json' \\", `  -d '${request}'`),
      '',
      ...(plan.has('room-dial-out')
        ? ['`caller_id` beside the number is the id of a number that you bought there; it is what the callee sees.', '']
        : ['The carrier has to let your SIP domain in: allow the addresses of the rooms’ vendor and no others.', '']),
      ...(plan.configuration.deploy_to_cloud
        ? ['On the service, send the same `body` to the start request of the agent, with `"createDailyRoom": false`.']
        : []),
      'The bot rings up to five times, waits for the callee to speak first, and ends when nobody can be reached.',
    ].join('\n'),
  ];
}

function evaluate(plan: Plan): readonly string[] {
  if (!plan.configuration.enable_eval) return [];
  const file = plan.configuration.mode === 'realtime' ? 'audio' : 'text';
  return [
    [
      '## Evaluate',
      '',
      'Scenarios in `server/evals/` talk to the running bot and judge what it answers. In a second terminal:',
      '',
      ...shell('cd server', `uv run --group evals pipecat eval run evals/${file}.yaml`),
      '',
      'Meanings (`eval:`) are judged by a model: without more, one that runs in a local Ollama. For any other, say',
      '`eval: {factory: judge.judge, model: MODEL}` below `judge:`, and write a `judge.py` whose `judge(config)` returns a',
      'service for language models; run with `PYTHONPATH=.`.',
      ...hosted(plan),
    ].join('\n'),
  ];
}

/** Each conversation is a session of its own, and a token lets one in: only an agent without tokens takes several. */
function hosted(plan: Plan): readonly string[] {
  if (!plan.configuration.deploy_to_cloud || !plan.has('stream')) return [];
  return ['', `The bot on the service is evaluated with \`--bot-url wss://HOST/ws/generic/${plan.slug}.ORG\`.`];
}

function observe(plan: Plan): readonly string[] {
  if (!plan.configuration.enable_observability) return [];
  return [
    [
      '## Observe',
      '',
      'While it runs on your machine, the bot offers its frames on port 9090 to',
      '[Whisker](https://github.com/pipecat-ai/whisker), a debugger that shows the pipeline at work, one session at a time.',
      ...(plan.configuration.deploy_to_cloud ? ['On the service it does not.'] : []),
    ].join('\n'),
  ];
}

function deploy(plan: Plan): readonly string[] {
  if (!plan.configuration.deploy_to_cloud) return [];
  const secrets =
    requiredVariables(plan).length > 0 ? [`botcli cloud secrets set ${secretSetOf(plan)} --file .env`] : [];
  return [
    [
      '## Deploy',
      '',
      ...shell(
        'cd server',
        'uv lock                 # what runs there is what you tried; without uv, leave it out',
        'botcli cloud auth login',
        ...secrets,
        'botcli cloud deploy',
      ),
      '',
      '`deploy.toml` says how big the instances are and how many wait. `.env` goes into no image.',
      ...entryPoints(plan),
    ].join('\n'),
  ];
}

const agent = [
  '## Building with an AI coding agent',
  '',
  '`AGENTS.md` tells a coding agent what it needs to know; `ASSISTANT.md` leads one assistant there. What models remember',
  'of the library is old, so give your agent its current documents: the context hub is an index of documents, examples',
  'and sources that agents ask over MCP.',
  '',
  ...shell('uv tool install "pipecat-ai[cli]"', 'pipecat context-hub install'),
  '',
  'That registers the hub with each coding agent it finds, prints for others what to paste into their settings, and builds',
  'the index: some minutes, about 900 MB. Agents load it when they start, so begin a new session afterwards; with an empty',
  'index it does not start. More: https://docs.pipecat.ai',
].join('\n');

/** What the files are for; those below `client/` are told in their own section. */
const purposes: Readonly<Record<string, string>> = {
  '.gitignore': 'keeps secrets, recordings and packages out of git',
  'AGENTS.md': 'what a coding agent has to know',
  'ASSISTANT.md': 'leads an assistant to AGENTS.md',
  'client/': 'the web client',
  'server/.dockerignore': 'what goes into no image',
  'server/.env.example': 'every variable that is read',
  'server/Dockerfile': 'an image of the bot, for a service that runs images',
  'server/bot.py': 'the bot',
  'server/deploy.toml': 'name, size and scaling on the service',
  'server/evals/': 'conversations that evaluate the bot',
  'server/pyproject.toml': 'dependencies, and settings of the tools',
  'server/server.py': 'the carrier’s webhook',
  '.botcli/project.json': 'how this was made, for botcli project check, add and update; belongs into git',
};

function files(paths: readonly string[]): string {
  const folded = paths.map((path) => path.replace(/^(client|server\/evals)\/.*/, '$1/'));
  const all = [...new Set(['.botcli/project.json', ...folded])].filter((path) => path !== 'README.md').sort();
  const rows = all.map((path) => `| \`${path}\` | ${purposes[path] ?? ''} |`);
  return ['## Files', '', '| file | what it is |', '|---|---|', ...rows].join('\n');
}

function shell(...lines: readonly string[]): readonly string[] {
  return ['```sh', ...lines, '```'];
}
