import { type Client, canonicalRegistry, type PullSecretCheck, type WrittenSecrets } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import type { Block, Cell, Report } from '../output/report.ts';
import { changeSigns } from './change-table.ts';
import { obtainConsent, requireAskable } from './consent.ts';
import { findPlace, placeFields } from './place.ts';
import { type CredentialSource, readCredentials, requireOneSource } from './pull-credentials.ts';
import { readinessCell, settleReadiness } from './readiness.ts';
import { sendWrite } from './send-write.ts';
import { requireSetName } from './set-name.ts';
import { expiryCell, expiryWarning, verificationCell } from './verification.ts';
import { askRegistry } from './verify-pull-secret.ts';

export type PullSecretRequest = {
  readonly name: string;
  readonly host: string;
  readonly from: CredentialSource;
  readonly verifies: boolean;
  readonly image: string | undefined;
  readonly lifeSeconds: number | undefined;
  readonly region: string | undefined;
  readonly skip: boolean;
  readonly isDry: boolean;
  readonly waitSeconds: number | undefined;
};

/** Asks the service what would change, shows it, and writes exactly that: a change in between is refused. */
export async function imagePullSecret(context: Context, wanted: PullSecretRequest): Promise<Report> {
  requireSetName(wanted.name);
  const host = requireRegistry(wanted.host);
  requireOneSource(context, wanted.from);
  if (!wanted.isDry) requireAskable(context, wanted);
  // Without a key nobody is asked for anything.
  const client = await context.service();
  const secretValue = await readCredentials(context, wanted.from, host);
  const params = { setName: wanted.name };
  const body = {
    isImagePullSecret: true,
    host,
    secretValue,
    ...(wanted.region === undefined ? {} : { region: wanted.region }),
    ...(wanted.lifeSeconds === undefined ? {} : { expiresAt: inSeconds(context.world.now(), wanted.lifeSeconds) }),
  };
  const plan = await client.putSecrets({ params, body: { ...body, dryRun: true } });
  if (wanted.isDry) return reportOf(context, plan, null, null);
  let written: WrittenSecrets = { ...plan, dryRun: false };
  const changes = plan.change !== 'none';
  if (changes) await obtainConsent(context, wanted, await preview(context, client, plan), question(plan));
  // The same credentials have the service try again what failed.
  if (changes || plan.readiness === 'failed') {
    const expectedRevision = plan.previousRevision ?? 0;
    written = await sendWrite(context, () => client.putSecrets({ params, body: { ...body, expectedRevision } }));
  }
  const readiness = await settleReadiness(context, client, written, wanted.waitSeconds);
  const check = wanted.verifies ? (await askRegistry(client, written.name, wanted.image)).verification : null;
  if (check?.result === 'rejected') throw rejection(written, check);
  return reportOf(context, written, readiness, check);
}

function requireRegistry(text: string): string {
  const registry = canonicalRegistry(text);
  if ('host' in registry) return registry.host;
  throw new Failure('host-invalid', `This is not a registry: ${registry.problem}.`);
}

function inSeconds(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

function rejection(written: WrittenSecrets, check: PullSecretCheck): Failure {
  const message = `Revision ${written.revision} of ${written.name} is stored, but: ${check.message}`;
  const hint = 'Run the command again with the right credentials.';
  return new Failure('credentials-rejected', message, hint, [], { written, verification: check });
}

function question({ name, previousRevision, host }: WrittenSecrets): string {
  const what = previousRevision === null ? 'Create the image pull secret' : 'Update the credentials of';
  return `${what} ${name} for ${host}?`;
}

async function preview(context: Context, client: Client, plan: WrittenSecrets): Promise<readonly Block[]> {
  const place = await findPlace(context, client, plan.region);
  const { previousRevision: before, host = '' } = plan;
  const now = before === null ? null : await hostOf(client, plan.name);
  return [
    {
      kind: 'fields',
      fields: [
        ['Image pull secret', before === null ? `${plan.name} (new)` : `${plan.name} (revision ${before})`],
        ['Registry', now === null || now === host ? host : { text: `${host} (now ${now})`, tone: 'warn' }],
        ...placeFields(place),
        ...changeFields(plan),
        ['Expires', expiryCell(plan.expiresAt ?? null, context.world.now())],
      ],
    },
  ];
}

/** The registry that the credentials are for now. */
async function hostOf(client: Client, name: string): Promise<string | null> {
  const { sets } = await client.listSecrets({ query: { type: 'imagePullSecret' } });
  return sets.find((set) => set.name.toLowerCase() === name.toLowerCase())?.host ?? null;
}

/** By their fingerprint, and nothing that could tell what they are. */
function changeFields({ changes }: WrittenSecrets): (readonly [string, Cell])[] {
  return changes.map(({ change, fingerprint }) => {
    const { sign, tone } = changeSigns[change];
    const text = fingerprint === null ? `${sign} ${change}` : `${sign} ${change}, fingerprint ${fingerprint}`;
    return ['Credentials', { text, tone }] as const;
  });
}

function reportOf(
  { world, warn }: Context,
  written: WrittenSecrets,
  readiness: WrittenSecrets['readiness'],
  check: PullSecretCheck | null,
): Report {
  const expiresAt = written.expiresAt ?? null;
  const warning = expiryWarning(written.name, expiresAt, world.now());
  if (warning !== null) warn(warning);
  const done = { created: 'created', updated: 'updated', none: 'unchanged' }[written.change];
  return {
    json: { ...written, readiness, verification: check },
    blocks: [
      {
        kind: 'fields',
        fields: [
          ['Image pull secret', written.name],
          ['Change', written.dryRun ? `${done} (dry run: nothing was written)` : done],
          ['Registry', written.host ?? ''],
          ['Region', written.region],
          ['Revision', written.revision === null ? '' : String(written.revision)],
          ...changeFields(written),
          ...(readiness === null ? [] : [['Status', readinessCell(readiness)] as const]),
          ['Expires', expiryCell(expiresAt, world.now())],
          ...(check === null ? [] : [['Registry says', verificationCell(check)] as const]),
        ],
      },
      ...(check === null ? [] : [{ kind: 'note', lines: [check.message] } as const]),
    ],
  };
}
