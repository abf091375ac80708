import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import { createApiClient } from '@bothost/contract';
import { sendRawRequest } from '../support/ask.ts';
import { type HostileProjects, hostileArchives, hostileBots, hostileBuilds } from './hostile-projects.ts';

/** The organization that attacks. Its agent `hostile` runs `hostileBotSource`. */
export type AttackingOrganization = {
  readonly url: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /**
   * The number of builds and archives that previous attacker processes have sent. This process starts its count there, so that
   * it does not send the same projects again.
   */
  readonly used: Readonly<Record<'build' | 'archive', number>>;
};

/** How many attacks of each kind had each result, for example `{ 'deep JSON: 400': 3 }`. */
export type AttackResults = Readonly<Record<string, number>>;

// The attacker is a separate process, so that it does not delay the client that the test measures. It attacks until it gets
// SIGTERM, and then prints `AttackResults`.
const attack = JSON.parse(process.argv[2] ?? '') as AttackingOrganization;
const { hostname, port } = new URL(attack.url);
const client = createApiClient({ origin: attack.url, key: attack.privateKey });
const results: Record<string, number> = {};
let isOver = false;
process.once('SIGTERM', () => {
  isOver = true;
});

// Count uncaught errors as broken connections: when the test kills the service, Node reports the errors of some connections
// outside of their requests.
process.on('uncaughtException', () => count('connection', 'broken'));

function count(name: string, result: string | number): void {
  const line = `${name}: ${result}`;
  results[line] = (results[line] ?? 0) + 1;
}

/** Repeats an attack until SIGTERM. The service may refuse the attack or close its connection. */
async function repeat(name: string, act: (round: number) => Promise<void>): Promise<void> {
  for (let round = 0; !isOver; round += 1) {
    await act(round).catch(async () => {
      count(name, 'no response');
      await delay(50);
    });
  }
}

const attackProjects = (kind: keyof AttackingOrganization['used'], projects: HostileProjects) =>
  repeat(kind, async (index) => {
    const round = attack.used[kind] + index;
    const all = Object.entries(projects);
    const [name, create] = all[round % all.length] ?? [];
    if (create === undefined) return;
    const buildId = await createBuild(create(`${kind}-${round}`));
    count(`${kind} ${name}`, await waitForResult(buildId).catch(() => 'no response'));
  });

/** Uploads a project, and returns the id of its build. */
async function createBuild(bytes: Buffer): Promise<string> {
  const contentHash = createHash('sha256').update(bytes).digest('hex');
  const body = { region: 'us-west', contentHash, sizeBytes: bytes.length };
  const { uploadUrl, uploadFields, uploadId } = await client.getBuildUploadUrl({ body });
  const headers = { 'upload-token': uploadFields.token, 'upload-offset': '0' };
  await fetch(uploadUrl, { method: 'PATCH', headers, body: new Uint8Array(bytes) });
  return (await client.createBuild({ body: { uploadId, region: 'us-west' } })).build.id;
}

/** Waits until a build or the attack ends, and returns the error code or status of the build. */
async function waitForResult(buildId: string): Promise<string> {
  const params = { buildId };
  for (let nextToken: string | undefined = '0'; nextToken !== undefined && !isOver; ) {
    ({ nextToken } = await client.getBuildLogs({ params, query: { nextToken, wait: 5 } }));
  }
  const { status, errorCode } = (await client.getBuild({ params })).build;
  return errorCode ?? status;
}

/** Starts sessions as fast as the service allows. Stops each session after some seconds; its bot attacks until then. */
const attackWithBots = () =>
  repeat('start', async (round) => {
    const all = Object.entries(hostileBots);
    const [name, code] = all[round % all.length] ?? [];
    const body = { body: { attack: code } };
    const { status, json } = await sendRawRequest(attack, 'POST', '/public/hostile/start', body, {
      key: attack.publicKey,
    });
    count(`start of bot ${name}`, status);
    if (status === 200) {
      void delay(5_000)
        .then(() => sendRawRequest(attack, 'DELETE', `/agents/hostile/sessions/${json['sessionId']}`))
        .then(({ status }) => count('stop of bot', status))
        .catch(() => count('stop of bot', 'no response'));
    }
  });

const asPublic = { key: attack.publicKey };
const start = '/public/hostile/start';
const requests: Readonly<Record<string, () => ReturnType<typeof sendRawRequest>>> = {
  'deep JSON': () => sendRawRequest(attack, 'POST', start, '['.repeat(500_000), asPublic),
  'deep object': () =>
    sendRawRequest(attack, 'POST', start, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`, asPublic),
  'invalid UTF-8': () =>
    sendRawRequest(attack, 'POST', start, Buffer.from('{"body":{"a":"\xff\xfe"}}', 'latin1'), asPublic),
  'huge body': () => sendRawRequest(attack, 'POST', start, Buffer.alloc(16 * 1_048_576, ' '), asPublic),
  'invalid key': () => sendRawRequest(attack, 'GET', '/agents', undefined, { key: `sk_${Math.random()}` }),
  'search of logs': () => sendRawRequest(attack, 'GET', '/agents/hostile/logs?limit=10000&query=absent'),
  'list of builds': () => sendRawRequest(attack, 'GET', '/builds?limit=100'),
};

const attackWithRequests = () =>
  repeat('request', async (round) => {
    const all = Object.entries(requests);
    const [name, send] = all[round % all.length] ?? [];
    if (send !== undefined) count(name ?? '', (await send()).status);
  });

/** Opens a hundred connections at once whose requests never end. */
const attackWithSlowBodies = () =>
  repeat('slow bodies', async () => {
    const head = `POST /v1${start} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${attack.publicKey}\r\ncontent-length: 1000\r\n\r\n`;
    const sockets = Array.from({ length: 100 }, () => connect(Number(port), hostname));
    for (const socket of sockets) socket.on('error', () => undefined).write(head);
    for (let second = 0; second < 5 && !isOver; second += 1) {
      for (const socket of sockets) socket.write(' ');
      await delay(1_000);
    }
    for (const socket of sockets) socket.destroy();
    count('slow bodies', 'sent');
  });

// An empty line shows the test that the attack begins. The results that follow remain valid JSON, because JSON may begin with
// white space.
process.stdout.write('\n');
await Promise.all([
  attackProjects('build', hostileBuilds),
  attackProjects('archive', hostileArchives),
  attackWithBots(),
  attackWithBots(),
  attackWithRequests(),
  attackWithRequests(),
  attackWithSlowBodies(),
]);
process.stdout.write(JSON.stringify(results));
