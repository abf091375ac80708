import type { CommandOptions } from './commands.ts';

/**
 * A command of Pipecat Cloud's CLI, with its expected exit status and output. `line` omits the words `pipecat cloud`. In `line`
 * and `shows`, `$NAME` is replaced with a value that an earlier command printed.
 */
export type CommandStep = {
  readonly line: string;
  readonly status: number;
  readonly shows: RegExp;
  /** What the command does, for its row in the table of docs/moving.md. */
  readonly does?: string;
  /**
   * Whether the service refuses the command. If so, the command's row in the table of docs/moving.md contains the error
   * message.
   */
  readonly refused?: true;
  /** The first tested CLI version that supports all options of this command. Earlier versions refuse an option. */
  readonly since?: string;
  /** Whether to repeat the command until its output matches, because the service updates what it shows asynchronously. */
  readonly eventually?: true;
  /** Names under which the values of the capturing groups in `shows` are stored for later commands. */
  readonly keeps?: readonly string[];
  readonly options?: Pick<CommandOptions, 'answers'> & { readonly environment?: Readonly<Record<string, string>> };
};

const expectRefusal = (line: string, shows: RegExp): CommandStep => ({ line, status: 1, shows, refused: true });
const problem = (line: string, shows: RegExp, options: CommandStep['options'] = {}): CommandStep => ({
  line,
  status: 1,
  shows,
  options,
});
const id = '01890000-0000-7000-8000-000000000000';
const down = '\x1b[B';

/** Returns the step as a CLI of this version runs it: a CLI that does not know one of its options must refuse the command. */
export function toStepOfVersion(step: CommandStep, version: string): CommandStep {
  if (step.since === undefined || step.since <= version) return step;
  return { line: step.line, status: 2, shows: /No such option/i };
}

/** Commands that need no agent. */
export const organizationSteps: readonly CommandStep[] = [
  {
    line: 'auth whoami',
    status: 0,
    shows: /test-org/,
    does: 'shows the person or the id of the API key, and the organization',
  },
  {
    line: 'auth use-pat',
    status: 0,
    shows: /Authenticated via PAT\. Active organization: test-org/,
    does: 'stores a personal access token in the profile of the CLI',
    options: { answers: [['Token:', '$PERSONAL_TOKEN\r']] },
  },
  problem('auth use-pat', /must start with pcc_pat_/, { answers: [['Token:', 'sk_none\r']] }),
  problem('auth login', /This login needs HTTPS.*log in with "pipecat cloud auth use-pat"/),
  { line: 'organizations list', status: 0, shows: /test-org/, does: 'lists the organization of the key' },
  {
    line: 'organizations select -o test-org',
    status: 0,
    shows: /Current organization set to test-org/,
    does: 'stores the organization in the profile of the CLI',
  },
  { line: 'organizations default-region', status: 0, shows: /us-west/, does: 'shows the default region' },
  {
    line: 'organizations default-region us-west',
    status: 0,
    shows: /Default region set to us-west/,
    does: 'changes the default region',
  },
  problem('organizations default-region nowhere', /Region "nowhere" does not exist\. Regions: us-west\./),
  { line: 'organizations properties list', status: 0, shows: /defaultRegion\tus-west/, does: 'lists the properties' },
  { line: 'organizations properties schema', status: 0, shows: /defaultRegion\tstring/, does: 'describes them' },
  {
    line: 'organizations properties set defaultRegion us-west',
    status: 0,
    shows: /defaultRegion set to us-west/,
    does: 'changes a property',
  },
  {
    line: 'organizations keys create --name web',
    status: 0,
    shows: /web\tpk_\w{49}\ttest-org/,
    does: 'creates a public key',
  },
  {
    line: 'organizations keys list',
    status: 0,
    shows: /first start\tpk_\w+\t\S+\tActive\nweb\tpk_\w{49}\t\S+\tActive/,
    does: 'lists public keys whole',
  },
  {
    line: 'organizations keys use',
    status: 0,
    shows: /'first start' set as default/,
    does: 'stores a public key in the profile of the CLI',
    options: { answers: [['Select API key', '\r']] },
  },
  {
    line: 'organizations keys revoke',
    status: 0,
    shows: /revoked successfully/,
    does: 'revokes a public key at once',
    options: { answers: [['Select API key', `${down}\r`]] },
  },
  { line: 'regions list', status: 0, shows: /us-west\tus-west/, does: 'lists the regions' },
  expectRefusal('regions register pce-x', /operator of this service sets up its regions/),
  expectRefusal('regions show pce-x', /operator of this service sets up its regions/),
  expectRefusal('regions delete pce-x --yes', /operator of this service sets up its regions/),
  expectRefusal('regions enroll-token pce-x', /operator of this service sets up its regions/),
  {
    line: 'organizations registry-keys list',
    status: 0,
    shows: /No registry keys/,
    does: 'lists none',
  },
  expectRefusal('organizations registry-keys mint --name x', /needs no registry keys/),
  expectRefusal(`organizations registry-keys revoke ${id} --force`, /needs no registry keys/),
  expectRefusal('spend-limit show', /has no spend limit/),
  expectRefusal('spend-limit set 50 --yes', /has no spend limit/),
  expectRefusal('spend-limit clear --yes', /has no spend limit/),
  expectRefusal('github connect', /does not connect to GitHub/),
  expectRefusal('github status', /does not connect to GitHub/),
  expectRefusal('github disconnect --yes', /does not connect to GitHub/),
  expectRefusal('github repos', /does not connect to GitHub/),
  expectRefusal('github branches owner/repository', /does not connect to GitHub/),
  { line: 'agent profiles list', status: 0, shows: /agent-3x.*1\.5.*3Gi.*platform/, does: 'lists the three profiles' },
  expectRefusal('agent profiles create large --cpu 4 --memory 8Gi', /no custom profiles\. Use agent-1x/),
  expectRefusal('agent profiles update agent-1x --display-name Small', /no custom profiles/),
  expectRefusal('agent profiles enable agent-1x', /no custom profiles/),
  expectRefusal('agent profiles disable agent-1x', /no custom profiles/),
  {
    line: 'secrets set bot-keys GREETING=hello OTHER=x --skip',
    status: 0,
    shows: /bot-keys/,
    does: 'writes each key as one revision',
  },
  { line: 'secrets list', status: 0, shows: /bot-keys/, does: 'lists the secret sets' },
  { line: 'secrets list bot-keys', status: 0, shows: /GREETING.*OTHER/s, does: 'lists the keys of a set' },
  { line: 'secrets unset bot-keys OTHER --skip', status: 0, shows: /OTHER/, does: 'removes a key' },
  {
    line: 'secrets image-pull-secret pull-keys ghcr.io user:password --skip',
    status: 0,
    shows: /pull-keys/,
    does: 'stores an image pull secret, which image regions use',
  },
  expectRefusal(`secrets reference cluster-keys --region us-west`, /stores secret values itself/),
  { line: 'secrets delete pull-keys --skip', status: 0, shows: /pull-keys/, does: 'deletes a set' },
  problem('secrets delete nothing --skip', /No set found with name 'nothing/),
  problem('secrets set bot-keys PORT=1 --skip', /PORT/),
];

/** Commands about an agent that is deployed from the working directory. */
export const agentSteps: readonly CommandStep[] = [
  {
    line: 'deploy --yes --secrets bot-keys',
    status: 0,
    shows: /Build Complete.*Warning: WebSocket clients of this agent need a token.*'first' is ready/s,
    does: 'uploads the project, builds it, deploys it and waits',
  },
  { line: 'agent list', status: 0, shows: /first\tus-west\t/, does: 'lists the agents' },
  { line: 'agent status first', status: 0, shows: /Ready: True.*Max Agents: 1/s, does: 'shows the agent' },
  { line: 'agent deployments first', status: 0, shows: /\t[0-9a-f-]{36}\t/, does: 'lists the deployments' },
  { line: 'build list', status: 0, shows: /([0-9a-f-]{36})\tsuccess/, keeps: ['BUILD'], does: 'lists the builds' },
  { line: 'build status $BUILD', status: 0, shows: /success/i, does: 'shows a build' },
  { line: 'build logs $BUILD', status: 0, shows: /Ready after/, does: 'shows the log of a build' },
  {
    line: 'agent start first --force',
    status: 0,
    shows: /started successfully.*Session ID: ([0-9a-f-]{36})/s,
    keeps: ['SESSION'],
    does: 'starts a session with the stored public key',
  },
  problem('agent start first --force', /PCC-AGENT-AT-CAPACITY: API Error: The agent is at its session limit/),
  {
    line: 'agent sessions first',
    status: 0,
    shows: /\$SESSION\t[^\n]*\tActive\t/,
    does: 'lists the last 1,000 sessions',
  },
  { line: 'agent logs first', status: 0, shows: /POST \/bot/, eventually: true, does: 'shows the last lines' },
  {
    line: 'agent logs first --session-id $SESSION --level INFO --format JSON --limit 10',
    status: 0,
    shows: /"log": "POST \/bot"/,
    eventually: true,
  },
  {
    line: 'agent stop first --session-id $SESSION --force',
    status: 0,
    shows: /\$SESSION/,
    does: 'ends the session',
  },
  {
    line: 'agent sessions first --id $SESSION',
    status: 0,
    shows: /Status: (Terminated|Complete) \(SESSION_STOPPED\)/,
    eventually: true,
    does: 'shows a session with its events and metrics',
  },
  { line: 'agent sessions first --end-state terminated', status: 0, shows: /\$SESSION/, since: '1.4.0' },
  {
    line: 'agent start first --use-daily --force',
    status: 0,
    shows:
      /https:\/\/stand-in\.daily\.co\/bothost-[0-9a-f]{32}\?t=.*Session ID: ([0-9a-f-]{36})|Session ID: ([0-9a-f-]{36}).*https:\/\/stand-in\.daily\.co\//s,
    keeps: ['ROOM_SESSION'],
    does: 'starts a session in a room, once the organization has connected Daily',
  },
  { line: 'agent stop first --session-id $ROOM_SESSION --force', status: 0, shows: /\$ROOM_SESSION/ },
  {
    line: 'docker build-push first --no-push --yes',
    status: 0,
    shows: /docker buildx build --platform=linux\/arm64.*Successfully built/s,
    does: 'runs Docker on your machine and does not call this service',
    options: { environment: { PATH: '$DOCKER', PIPECAT_API_HOST: 'http://127.0.0.1:9' } },
  },
  { line: 'agent scale', status: 0, shows: /Not implemented/, does: 'is not implemented in the CLI itself' },
  expectRefusal('agent link first --repo owner/repository --branch main', /does not connect to GitHub/),
  expectRefusal('agent unlink first --force', /does not connect to GitHub/),
  expectRefusal('agent deploy first --github', /does not connect to GitHub/),
  {
    line: 'deploy --yes --force --build-id $BUILD --min-agents 1 --max-agents 2 --max-session-duration 600 --profile agent-2x --region us-west',
    status: 0,
    shows: /'first' is ready/,
    does: 'deploys an existing build again with other settings',
  },
  {
    line: 'agent status first',
    status: 0,
    shows: /Agent Profile: agent-2x.*Duration: 600s.*Min Agents: 1.*Max Agents: 2/s,
  },
  expectRefusal('deploy first team/bot:1 --yes --no-credentials', /image: this region runs builds, not images/),
  { line: 'secrets image-pull-secret pull-keys ghcr.io user:password --skip', status: 0, shows: /pull-keys/ },
  expectRefusal('deploy --yes --build-id $BUILD --credentials pull-keys', /imagePullSecretSet: this region/),
  expectRefusal('deploy --yes --build-id $BUILD --architecture arm64', /architecture: bots run on the architecture/),
  expectRefusal('deploy --yes --build-id $BUILD --krisp-viva-audio-filter tel', /krispViva\.audioFilter: the service/),
  expectRefusal('deploy --yes --build-id $BUILD --resources cpu=1,memory=1Gi', /resources: CPU and memory come from/),
  expectRefusal('deploy other --yes --repo owner/repository --branch main', /git: this region cannot deploy from/),
  problem('deploy --yes --build-id $BUILD --region nowhere', /Invalid region 'nowhere'/),
  problem('deploy --yes --build-id $BUILD --profile agent-9x', /agentProfile/),
  problem(`deploy --yes --build-id ${id}`, /build does not exist in the region of this agent/),
  problem('deploy --yes --build-id $BUILD --credentials nothing', /Image pull secret with name 'nothing' not found/),
  problem('deploy --yes --build-id $BUILD --secrets nothing', /Secret set 'nothing' not found/),
  problem('deploy --yes --build-id $BUILD --secrets failed-keys', /secret set is not ready, it failed: no disk/),
  problem('agent status nobody', /No deployment data found/),
  problem('agent logs nobody', /Agent or session not found/),
  problem('agent sessions nobody', /Agent or session not found/),
  problem('agent deployments nobody', /Unable to get deployments for nobody/),
  problem('agent start nobody --force', /does not exist or is not in a healthy state/),
  problem('agent delete nobody --force', /not found/),
  problem(`agent stop nobody --session-id ${id} --force`, /no session with this id/),
  problem(`agent stop first --session-id ${id} --force`, /no session with this id/),
  problem('agent list', /Unauthorized request/, { environment: { PIPECAT_TOKEN: 'sk_wrong' } }),
  problem('agent start first --force', /Unauthorized request/, {
    environment: { PIPECAT_DEFAULT_PUBLIC_KEY: 'pk_wrong' },
  }),
  problem('agent start first --force', /Agent or session not found/, {
    environment: { PIPECAT_DEFAULT_PUBLIC_KEY: '$OTHER_KEY' },
  }),
];

export const cleanupSteps: readonly CommandStep[] = [
  { line: 'agent delete first --force', status: 0, shows: /deleted successfully/, does: 'deletes the agent' },
  {
    line: 'auth logout',
    status: 0,
    shows: /credentials .* removed/,
    does: 'removes the profile of the CLI, and revokes the token of `pipecat cloud auth login`',
  },
];
