/**
 * Which file may import which. `imports.test.ts` checks every import of the repository against these tables, and generates
 * docs/imports.md from them.
 */
export type ImportArea = {
  readonly title: string;
  readonly description: string;
  /** The folder that the paths of the table are relative to. A file belongs to the area with the longest matching root. */
  readonly root: string;
  /** What every row may import. */
  readonly shared?: readonly string[];
  /** The only packages from npm that this area may import, and no modules of Node.js. Without it, the manifest decides. */
  readonly libraries?: readonly string[];
  /** Matches files that only their own row may import. */
  readonly privateFiles?: RegExp;
  readonly rows: readonly ImportRow[];
};

/**
 * A path is that of a file, or of a folder with all files below it (`store/`), or `*` for the files directly in the root. An import
 * is also allowed by the name of one of our packages: `@bothost/runtime` for this entry point, `@bothost/contract/*` for all.
 */
export type ImportRow = {
  /** A file belongs to the row with the longest matching path. Its own row may always be imported. */
  readonly files: readonly [string, ...string[]];
  readonly contain: string;
  /** The first path of another row: everything that it may import is allowed here, too. */
  readonly as?: string;
  readonly mayImport?: readonly string[];
  /** What may be imported by `await import` only, because it is large. */
  readonly mayLoad?: readonly string[];
  readonly typesOnly?: true;
};

const contract = '@bothost/contract/*';

export const importAreas: readonly ImportArea[] = [
  {
    title: 'The repository',
    description:
      'Tests beside the source count as files of the `test/` of their package. The sources of packages have tables of their own, ' +
      'below.',
    root: '',
    rows: [
      {
        files: ['*'],
        contain: 'settings of the tools',
        mayImport: ['lint/imports/', 'packages/contract/source-aliases.ts'],
      },
      { files: ['.ci/'], contain: 'the run of all suites' },
      { files: ['release/'], contain: 'packing and publishing' },
      { files: ['bench/'], contain: 'measurements of the built programs' },
      { files: ['examples/'], contain: 'bots, which depend on the bot contract alone' },
      { files: ['runtimes/'], contain: 'the Python host' },
      { files: ['packages/contract/'], contain: 'the settings of the package' },
      { files: ['packages/packing/'], contain: 'the settings of the package' },
      { files: ['packages/runtime/'], contain: 'the settings of the package' },
      { files: ['packages/server/'], contain: 'the settings of the package' },
      {
        files: ['packages/cli/'],
        contain: 'the settings of the package, and the templates of clients',
        mayImport: ['packages/contract/source-aliases.ts'],
      },
      {
        files: ['packages/dashboard/'],
        contain: 'the settings of the package',
        mayImport: ['packages/dashboard/static-pages/'],
      },
      {
        files: ['packages/dashboard/static-pages/'],
        contain: 'the pages that the build writes: the documents, and the outline of the API reference',
        mayImport: [contract, 'packages/dashboard/src/'],
      },
      { files: ['packages/contract/test/'], contain: 'tests', mayImport: ['packages/contract/src/'] },
      { files: ['packages/packing/test/'], contain: 'tests', mayImport: [contract, 'packages/packing/src/'] },
      { files: ['packages/runtime/test/'], contain: 'tests', mayImport: [contract, 'packages/runtime/src/'] },
      {
        files: ['packages/server/test/'],
        contain: 'tests',
        as: 'packages/runtime/test/',
        mayImport: ['packages/server/src/', 'packages/runtime/test/', '@bothost/runtime/*'],
      },
      {
        files: ['packages/cli/test/'],
        contain: 'tests',
        mayImport: [contract, '@bothost/packing', 'packages/cli/src/'],
      },
      {
        files: ['test/'],
        contain: 'tests that span packages',
        mayImport: [
          contract,
          'packages/contract/src/',
          'packages/server/src/',
          'packages/runtime/test/',
          'packages/server/test/',
          'packages/cli/test/',
        ],
      },
      {
        files: ['packages/dashboard/test/'],
        contain: 'tests',
        as: 'test/',
        mayImport: ['packages/dashboard/src/', 'test/'],
      },
      {
        files: ['images/'],
        contain: 'container images, and their tests',
        mayImport: ['packages/contract/src/', 'packages/runtime/test/'],
      },
      {
        files: ['lint/'],
        contain: 'house rules',
        mayImport: [
          'packages/contract/src/',
          'packages/server/src/',
          'packages/cli/src/',
          'packages/dashboard/static-pages/',
        ],
      },
    ],
  },
  {
    title: 'The contract',
    description: 'It runs in browsers, too.',
    root: 'packages/contract/src/',
    libraries: ['zod'],
    rows: [{ files: ['*', 'operations/', 'conversation/', 'env-file/'], contain: 'what callers can request' }],
  },
  {
    title: 'Packing',
    description: 'It runs in browsers, too.',
    root: 'packages/packing/src/',
    rows: [{ files: ['*'], contain: 'a project as an archive', mayImport: [contract] }],
  },
  {
    title: 'The runtime',
    description: 'Only `registry.ts` imports drivers, and it loads them when they are used.',
    root: 'packages/runtime/src/',
    rows: [
      { files: ['*'], contain: 'the interface, and what every driver needs', mayImport: [contract] },
      {
        files: ['output/'],
        contain: 'the output of an instance as files: marks of when which part was seen, gaps, limits',
        mayImport: ['*'],
      },
      {
        files: ['container-runtime.ts', 'instance-recorder.ts'],
        contain: 'instances whose output a platform keeps',
        mayImport: ['*', 'output/'],
      },
      {
        files: ['registry.ts'],
        contain: 'all drivers by name',
        as: '*',
        mayImport: ['*', 'process/options.ts'],
        mayLoad: ['process/'],
      },
    ],
  },
  {
    title: 'The Docker driver',
    description: 'Its files are in one folder.',
    root: 'packages/runtime/src/docker/',
    shared: [
      contract,
      '../bot-port.ts',
      '../container-runtime.ts',
      '../describe-network-error.ts',
      '../instance-end.ts',
      '../instance-events.ts',
      '../instance-recorder.ts',
      '../instance-starts.ts',
      '../instance-store.ts',
      '../json-lines.ts',
      '../output/',
      '../polling.ts',
      '../runtime.ts',
      '../session-cpu.ts',
      '../write-json-atomically.ts',
    ],
    rows: [{ files: ['*'], contain: 'the driver' }],
  },
  {
    title: 'The Kubernetes driver',
    description: 'Its files are in one folder.',
    root: 'packages/runtime/src/kubernetes/',
    shared: [
      contract,
      '../bot-port.ts',
      '../container-runtime.ts',
      '../describe-network-error.ts',
      '../format-url-host.ts',
      '../instance-end.ts',
      '../instance-events.ts',
      '../instance-recorder.ts',
      '../instance-starts.ts',
      '../instance-store.ts',
      '../json-lines.ts',
      '../output/',
      '../runtime.ts',
      '../settles-within.ts',
    ],
    rows: [{ files: ['*'], contain: 'the driver' }],
  },
  {
    title: 'The process driver',
    description: 'No folder may import the files of the first row.',
    root: 'packages/runtime/src/process/',
    shared: [
      contract,
      'error-message.ts',
      'run-and-log-failure.ts',
      '../directory-hash.ts',
      '../directory-tree.ts',
      '../instance-end.ts',
      '../instance-events.ts',
      '../keyed-queue.ts',
      '../output/',
      '../polling.ts',
      '../project-entries.ts',
      '../remove-tree.ts',
      '../runtime.ts',
      '../session-cpu.ts',
      '../settles-within.ts',
      '../spawner.ts',
      '../write-json-atomically.ts',
    ],
    rows: [
      {
        files: ['process-runtime.ts', 'machine.ts', 'options.ts'],
        contain: 'the driver, and the machine that it prepares',
        as: 'starts/',
        mayImport: ['starts/'],
      },
      { files: ['error-message.ts', 'run-and-log-failure.ts'], contain: 'what every folder needs' },
      { files: ['proc/'], contain: 'reading `/proc`: processes, listening sockets' },
      {
        files: ['records/'],
        contain: 'what the driver stores about instances and fork servers, so that the next server can adopt them',
        mayImport: ['proc/'],
      },
      {
        files: ['output/'],
        contain: 'watching the file that a bot writes to',
      },
      {
        files: ['containment/'],
        contain: 'which processes belong to an instance, their accounts, control groups, limits and usage',
        mayImport: ['proc/', 'records/'],
      },
      {
        files: ['supervisor/'],
        contain: 'the shell that runs a bot and outlives the server, and how variables pass through it',
        mayImport: ['containment/'],
      },
      {
        files: ['disk/'],
        contain: 'measuring the disk space of instances and builds, and choosing which to end',
        mayImport: ['proc/'],
      },
      {
        files: ['instances/'],
        contain: 'one instance from its first process to its removal: spawning, adopting, watching, ending',
        mayImport: ['proc/', 'records/', 'output/', 'containment/', 'supervisor/', 'disk/'],
      },
      {
        files: ['projects/'],
        contain: 'preparing projects: kinds, installing, building, stored projects, how a bot is run',
        as: 'instances/',
        mayImport: ['instances/'],
      },
      {
        files: ['fork-servers/'],
        contain:
          'processes that import a Python bot once and fork its instances: starting, adopting, stopping them, their ranges of ' +
          'accounts',
        as: 'projects/',
        mayImport: ['projects/'],
      },
      {
        files: ['starts/'],
        contain:
          'starting a bot: its port, socket and account, the choice between fork and spawn, waiting until it is ready',
        as: 'fork-servers/',
        mayImport: ['fork-servers/'],
      },
    ],
  },
  {
    title: 'The server',
    description: 'Queries (`sessions/rows.ts` and the like) are private to their folder.',
    root: 'packages/server/src/',
    shared: ['operator-error.ts', 'crypto/'],
    privateFiles: /\/(?:[a-z]+-)?rows\.ts$/,
    rows: [
      {
        files: ['operator-error.ts', 'crypto/'],
        contain: 'an error that the operator can correct, and comparing secrets',
      },
      {
        files: ['config.ts', 'settings.ts', 'ice-servers-setting.ts'],
        contain: 'the settings of the service',
        mayImport: [contract, '@bothost/runtime/registry'],
      },
      { files: ['store/'], contain: 'the database, its tables and migrations', mayImport: [contract] },
      { files: ['concurrency/'], contain: 'rate limits, queues, signals', mayImport: [contract] },
      { files: ['http-client/'], contain: 'requests to addresses that a tenant chooses' },
      {
        files: ['audit/'],
        contain: 'the audit log',
        as: 'concurrency/',
        mayImport: ['store/', 'concurrency/', 'context.ts', 'operation-handlers.ts'],
      },
      {
        files: ['organizations/'],
        contain: 'organizations, their members and API keys',
        as: 'audit/',
        mayImport: ['audit/', '@bothost/runtime', '@bothost/runtime/keyed-queue'],
      },
      {
        files: ['accounts/'],
        contain: 'people, their sign-in and personal tokens',
        as: 'audit/',
        mayImport: ['audit/', 'organizations/'],
      },
      { files: ['builds/'], contain: 'uploads and builds', as: 'organizations/' },
      {
        files: ['secrets/'],
        contain: 'secret sets, the vault, image pull secrets',
        as: 'organizations/',
        mayImport: ['organizations/', 'http-client/'],
      },
      {
        files: ['rooms/'],
        contain: 'rooms of sessions at their providers, and the keys of providers',
        as: 'organizations/',
        mayImport: ['organizations/', 'secrets/'],
      },
      {
        files: ['webhooks/'],
        contain: 'webhooks of organizations, and the outbox of events for them',
        as: 'organizations/',
        mayImport: ['organizations/', 'secrets/', 'http-client/'],
      },
      { files: ['logs/'], contain: 'the output of bots', as: 'organizations/' },
      { files: ['metrics/'], contain: 'usage of instances, and metrics of the service', as: 'organizations/' },
      {
        files: ['agents/'],
        contain: 'agents and their deployments',
        as: 'organizations/',
        mayImport: ['organizations/', 'builds/', 'secrets/', 'webhooks/', 'logs/', 'metrics/'],
      },
      { files: ['instances/'], contain: 'rows of instances, and regions', as: 'agents/', mayImport: ['agents/'] },
      { files: ['sessions/'], contain: 'sessions of bots', as: 'instances/', mayImport: ['instances/', 'rooms/'] },
      { files: ['alerts/'], contain: 'alerts of agents', as: 'sessions/', mayImport: ['sessions/'] },
      { files: ['conversations/'], contain: 'conversations of sessions', as: 'sessions/', mayImport: ['sessions/'] },
      {
        files: ['reconciler/'],
        contain: 'observe, plan, execute',
        as: 'sessions/',
        mayImport: ['sessions/', 'conversations/'],
      },
      {
        files: ['context.ts', 'operation-handlers.ts'],
        contain: 'the types of what `composition/` opens for verbs, and of handlers',
        as: 'reconciler/',
        mayImport: ['accounts/', 'checks/', 'reconciler/', 'http-client/'],
        typesOnly: true,
      },
      {
        files: ['session-starts/'],
        contain: 'starting a session',
        as: 'reconciler/',
        mayImport: ['reconciler/'],
      },
      {
        files: ['phone/'],
        contain: 'phone carriers: call documents, signatures, refused calls',
        as: 'session-starts/',
        mayImport: ['session-starts/'],
      },
      {
        files: ['backup/'],
        contain: 'backup and restore',
        as: 'sessions/',
        mayImport: ['sessions/', 'conversations/'],
      },
      {
        files: ['checks/'],
        contain: 'what an operator can get wrong: database, disk, secrets, runtime, ICE servers',
        as: 'sessions/',
        mayImport: ['sessions/', '@bothost/runtime/registry'],
      },
      {
        files: ['handlers.ts'],
        contain: 'the handlers of all features',
        as: 'phone/',
        mayImport: ['accounts/', 'alerts/', 'checks/', 'phone/'],
      },
      {
        files: ['http/requests/'],
        contain: 'what every request meets: checks of its head, limits, the address of its client, CORS',
        mayImport: [contract, 'sessions/'],
      },
      {
        files: ['http/api/'],
        contain: 'operations: routes, authentication, authorization',
        mayImport: [
          contract,
          'http/requests/',
          'operation-handlers.ts',
          'audit/',
          'organizations/',
          'accounts/',
          'store/uuid.ts',
        ],
      },
      {
        files: ['http/session-proxy/'],
        contain: 'requests and upgrades that are forwarded to the bot of a session',
        as: 'http/requests/',
        mayImport: ['http/requests/', 'organizations/', 'metrics/', 'instances/', 'session-starts/'],
      },
      {
        files: ['http/sockets/'],
        contain: 'WebSockets of web clients and phone carriers',
        as: 'http/requests/',
        mayImport: ['http/requests/', 'metrics/', 'instances/', 'session-starts/'],
      },
      {
        files: ['http/pages/'],
        contain: 'web pages, and `botcli` to install',
        mayImport: [contract, 'http/requests/', 'http/api/'],
      },
      {
        files: ['http/'],
        contain: 'the HTTP server, uploads, probes, announcements of phone calls',
        as: 'http/api/',
        mayImport: ['http/', 'builds/', 'rooms/', 'session-starts/', 'phone/'],
      },
      {
        files: ['composition/'],
        contain: 'the start and the end of the service, step by step',
        as: 'handlers.ts',
        mayImport: [
          'handlers.ts',
          'backup/',
          'http/',
          'http-client/',
          'config.ts',
          'settings.ts',
          '@bothost/runtime/registry',
          '@bothost/runtime/directory-hash',
          '@bothost/runtime/remove-tree',
        ],
      },
      { files: ['main.ts'], contain: 'the program', as: 'composition/', mayImport: ['composition/'] },
    ],
  },
  {
    title: 'The command line',
    description: 'Files directly in `scaffold/` are the steps of `botcli init`.',
    root: 'packages/cli/src/',
    shared: ['config.ts', 'failure.ts', 'failure-reasons.ts', 'version.ts'],
    rows: [
      {
        files: ['main.ts', 'program.ts', 'commands.ts', 'find-command.ts', 'help.ts', 'suggest-words.ts'],
        contain: 'the program, and the table of commands',
        as: 'commands/',
        mayImport: ['commands/'],
      },
      {
        files: ['config.ts', 'failure.ts', 'failure-reasons.ts', 'version.ts'],
        contain: 'what every folder needs',
        mayImport: [contract],
      },
      {
        files: ['io/'],
        contain: 'everything outside the program as one value: streams, prompts, time, the process',
      },
      { files: ['output/'], contain: 'reports, and how they are printed', mayImport: ['io/'] },
      {
        files: ['connection/'],
        contain: 'which service is called with which key: settings, profile, login',
        mayImport: [contract, 'io/', 'output/'],
      },
      {
        files: ['command-line/'],
        contain: 'the type of a command, its options and context, and the parser',
        as: 'connection/',
        mayImport: ['connection/'],
      },
      {
        files: ['records/'],
        contain: 'records of the service as several commands show or filter them',
        as: 'command-line/',
        mayImport: ['command-line/'],
      },
      { files: ['conversation/'], contain: 'a conversation as text, and as a file of `pipecat eval`', as: 'records/' },
      { files: ['operator/'], contain: "what the operator's commands share", as: 'records/' },
      { files: ['pack/'], contain: 'a project as an archive', as: 'records/', mayImport: ['@bothost/packing'] },
      { files: ['rooms/'], contain: 'keys of providers of rooms', as: 'records/' },
      { files: ['phone/'], contain: 'setting up phone carriers, and watching the first call', as: 'records/' },
      { files: ['secrets/'], contain: 'secret sets: sources of values, changes, tables', as: 'records/' },
      { files: ['scaffold/'], contain: 'the generator of projects', as: 'records/', mayImport: ['scaffold/'] },
      {
        files: ['deploy/'],
        contain: 'a deployment, step by step',
        as: 'records/',
        mayImport: ['pack/', 'secrets/', 'scaffold/catalogue/', 'scaffold/project-file.ts'],
      },
      {
        files: ['commands/'],
        contain: 'a file for each command: its arguments, its options, and `run`, which returns a report',
        as: 'deploy/',
        mayImport: ['deploy/', 'records/', 'conversation/', 'operator/', 'phone/', 'rooms/', 'scaffold/'],
      },
      {
        files: ['scaffold/package-manager.ts', 'scaffold/project-file.ts', 'scaffold/version-order.ts'],
        contain: 'what several folders of `scaffold/` need',
      },
      { files: ['scaffold/python/'], contain: 'Python expressions and imports, formatted' },
      {
        files: ['scaffold/catalogue/'],
        contain: 'services by vendor, and transports',
        mayImport: ['scaffold/python/'],
      },
      {
        files: ['scaffold/configuration/'],
        contain: 'fields, the rules between them, what a configuration needs',
        as: 'scaffold/catalogue/',
        mayImport: [contract, 'scaffold/catalogue/'],
      },
      {
        files: ['scaffold/client/'],
        contain: 'files of web clients, from the templates',
        as: 'scaffold/configuration/',
        mayImport: ['scaffold/configuration/', 'scaffold/project-file.ts', '../templates/'],
      },
      {
        files: ['scaffold/project/'],
        contain: 'files of the bot: code, packages, README',
        as: 'scaffold/client/',
        mayImport: ['scaffold/client/'],
      },
      {
        files: ['scaffold/merging/'],
        contain: "merging generated files with a user's edits",
        mayImport: ['scaffold/version-order.ts'],
      },
      {
        files: ['scaffold/writing/'],
        contain: 'conflicts, changes that survive a kill, the lock, the stored answers',
        mayImport: [contract, 'scaffold/configuration/', 'scaffold/project-file.ts'],
      },
      {
        files: ['scaffold/guides/'],
        contain: 'instructions for coding agents',
        mayImport: ['scaffold/writing/', 'scaffold/version-order.ts'],
      },
      {
        files: ['scaffold/wizard/'],
        contain: 'the questions of `botcli init`',
        as: 'scaffold/configuration/',
        mayImport: ['io/', 'scaffold/configuration/', 'scaffold/client/'],
      },
      {
        files: ['scaffold/checking/'],
        contain: '`project check`',
        as: 'scaffold/project/',
        mayImport: [
          'scaffold/project/',
          'scaffold/merging/',
          'scaffold/writing/',
          'scaffold/guides/',
          'scaffold/version-order.ts',
        ],
      },
      {
        files: ['scaffold/changing/'],
        contain: '`project add` and `project update`',
        as: 'scaffold/checking/',
        mayImport: ['scaffold/checking/', 'scaffold/package-manager.ts', 'io/', 'output/', 'command-line/'],
      },
    ],
  },
  {
    title: 'The dashboard',
    description: '',
    root: 'packages/dashboard/src/',
    shared: [contract, 'api.ts', 'app.css', 'live-query.ts', 'theme.ts', 'theme-button.ts'],
    rows: [
      {
        files: ['main.tsx', 'router.ts'],
        contain: 'the program',
        as: 'sessions/',
        mayImport: [
          'builds/',
          'connection/',
          'deploy/',
          'deployments/',
          'overview/',
          'secrets/',
          'sessions/',
          'settings/',
          'shell/',
          'talk/',
        ],
      },
      {
        files: ['api.ts', 'app.css', 'live-query.ts', 'theme.ts', 'theme-button.ts'],
        contain: 'calls of the service, and what every folder needs',
      },
      { files: ['components/'], contain: 'what pages are made of: fields, dialogs, lists, texts about times' },
      { files: ['commands/'], contain: 'the command for what a page does: `botcli`, or else `curl`' },
      { files: ['connection/'], contain: 'whether the service can be reached' },
      { files: ['routing/'], contain: 'the root of all routes, and what routes share', mayImport: ['components/'] },
      {
        files: ['accounts/'],
        contain: 'the signed-in person, and the pages of signing in, joining and approving logins',
        mayImport: ['components/', 'commands/', 'routing/'],
      },
      {
        files: ['organization/'],
        contain: "the organization in the address, and the person's role in it",
        as: 'accounts/',
        mayImport: ['commands/', 'accounts/'],
      },
      {
        files: ['secrets/'],
        contain: 'secret sets and image pull secrets',
        as: 'organization/',
        mayImport: ['organization/'],
      },
      { files: ['settings/'], contain: 'settings of the organization and of the person', as: 'secrets/' },
      {
        files: ['statistics/'],
        contain: 'charts of sessions over time, and failed sessions grouped by cause',
        as: 'organization/',
        mayImport: ['organization/'],
      },
      {
        files: ['overview/'],
        contain: 'what runs, and what needs attention',
        as: 'sessions/',
        mayImport: ['sessions/'],
      },
      { files: ['reference/'], contain: 'the page of the API reference' },
      {
        files: ['help/'],
        contain: 'the pages of the documents, and their search',
        mayImport: ['components/'],
      },
      {
        files: ['agents/'],
        contain: 'agents and their deployments',
        as: 'secrets/',
        mayImport: ['secrets/', 'statistics/'],
      },
      { files: ['logs/'], contain: 'the output of bots', as: 'agents/', mayImport: ['agents/'] },
      { files: ['talk/'], contain: 'conversations with an agent from the browser', as: 'logs/' },
      {
        files: ['conversation/'],
        contain: 'the conversation of a session: transcript, turns, lanes and numbers',
        as: 'logs/',
        mayImport: ['logs/'],
      },
      {
        files: ['sessions/'],
        contain: 'sessions of bots, with charts',
        as: 'conversation/',
        mayImport: ['conversation/'],
      },
      { files: ['builds/'], contain: 'the log of a build', as: 'logs/', mayImport: ['logs/'] },
      {
        files: ['deployments/'],
        contain: 'the page of a deployment: its files, changes and sessions',
        as: 'sessions/',
        mayImport: ['sessions/'],
      },
      {
        files: ['deploy/'],
        contain: 'a deployment from a folder or an archive, packed in the browser',
        as: 'sessions/',
        mayImport: ['builds/', 'secrets/', '@bothost/packing'],
      },
      { files: ['palette/'], contain: 'the command palette and keyboard shortcuts', as: 'logs/', mayImport: ['help/'] },
      {
        files: ['shell/'],
        contain: 'the frames around pages, and the start page',
        as: 'secrets/',
        mayImport: ['help/', 'palette/'],
      },
    ],
  },
];
