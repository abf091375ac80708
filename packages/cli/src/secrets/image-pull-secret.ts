import { type Client, canonicalRegistry, type PullSecretCheck, type WrittenSecrets } from '@bothost/contract';
import type { Context } from '../command-line/context.ts';
import { Failure } from '../failure.ts';
import type { Block, Cell, Report } from '../output/report.ts';
import { changeSigns } from './change-table.ts';
import { confirmChange, requireConfirmable } from './confirm-change.ts';
import { type CredentialSource, readCredentials, requireOneSource } from './pull-credentials.ts';
import { readinessCell, resolveReadiness } from './readiness.ts';
import { sendWrite } from './send-write.ts';
import { requireSetName } from './set-name.ts';
import { expiryCell, expiryWarning, verificationCell } from './verification.ts';
import { verifyWithRegistry } from './verify-pull-secret.ts';
import { findWriteTarget, targetFields } from './write-target.ts';

export type PullSecretRequest = {
  readonly name: string;
  readonly host: string;
  readonly from: CredentialSource;
  readonly shouldVerify: boolean;
  readonly image: string | undefined;
  readonly lifeSeconds: number | undefined;
  readonly region: string | undefined;
  readonly skip: boolean;
  readonly isDryRun: boolean;
  readonly waitSeconds: number | undefined;
};

/** Asks the service what would change, shows it, and writes exactly that: a change in between is refused. */
export async function imagePullSecret(context: Context, wanted: PullSecretRequest): Promise<Report> {
  requireSetName(wanted.name);
  const host = requireRegistry(wanted.host);
  requireOneSource(context, wanted.from);
  if (!wanted.isDryRun) requireConfirmable(context, wanted);
  // Without a key nobody is asked for anything.
  const client = await context.service();
  const secretValue = await readCredentials(context, wanted.from, host);
  const params = { setName: wanted.name };
  const body = {
    isImagePullSecret: true,
    host,
    secretValue,
    ...(wanted.region === undefined ? {} : { region: wanted.region }),
    ...(wanted.lifeSeconds === undefined ? {} : { expiresAt: expiryTime(context.io.now(), wanted.lifeSeconds) }),
  };
  const plan = await client.putSecrets({ params, body: { ...body, dryRun: true } });
  if (wanted.isDryRun) return pullSecretReport(context, plan, null, null);
  let written: WrittenSecrets = { ...plan, dryRun: false };
  const changes = plan.change !== 'none';
  if (changes) await confirmChange(context, wanted, await preview(context, client, plan), question(plan));
  // The same credentials have the service try again what failed.
  if (changes || plan.readiness === 'failed') {
    const expectedRevision = plan.previousRevision ?? 0;
    written = await sendWrite(context, () => client.putSecrets({ params, body: { ...body, expectedRevision } }));
  }
  const readiness = await resolveReadiness(context, client, written, wanted.waitSeconds);
  const check = wanted.shouldVerify
    ? (await verifyWithRegistry(client, written.name, wanted.image)).verification
    : null;
  if (check?.result === 'rejected') throw rejectedFailure(written, check);
  return pullSecretReport(context, written, readiness, check);
}

function requireRegistry(text: string): string {
  const registry = canonicalRegistry(text);
  if ('host' in registry) return registry.host;
  throw new Failure('host-invalid', `This is not a registry: ${registry.problem}.`);
}

function expiryTime(now: Date, seconds: number): string {
  return new Date(now.getTime() + seconds * 1_000).toISOString();
}

function rejectedFailure(written: WrittenSecrets, check: PullSecretCheck): Failure {
  const message = `Revision ${written.revision} of ${written.name} is stored, but: ${check.message}`;
  const hint = 'Run the command again with the right credentials.';
  return new Failure('credentials-rejected', message, hint, [], { written, verification: check });
}

function question({ name, previousRevision, host }: WrittenSecrets): string {
  const what = previousRevision === null ? 'Create the image pull secret' : 'Update the credentials of';
  return `${what} ${name} for ${host}?`;
}

async function preview(context: Context, client: Client, plan: WrittenSecrets): Promise<readonly Block[]> {
  const place = await findWriteTarget(context, client, plan.region);
  const { previousRevision: before, host = '' } = plan;
  const now = before === null ? null : await hostOf(client, plan.name);
  return [
    {
      kind: 'fields',
      fields: [
        ['Image pull secret', before === null ? `${plan.name} (new)` : `${plan.name} (revision ${before})`],
        ['Registry', now === null || now === host ? host : { text: `${host} (now ${now})`, tone: 'warn' }],
        ...targetFields(place),
        ...changeFields(plan),
        ['Expires', expiryCell(plan.expiresAt ?? null, context.io.now())],
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

function pullSecretReport(
  { io, warn }: Context,
  written: WrittenSecrets,
  readiness: WrittenSecrets['readiness'],
  check: PullSecretCheck | null,
): Report {
  const expiresAt = written.expiresAt ?? null;
  const warning = expiryWarning(written.name, expiresAt, io.now());
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
          ['Expires', expiryCell(expiresAt, io.now())],
          ...(check === null ? [] : [['Registry says', verificationCell(check)] as const]),
        ],
      },
      ...(check === null ? [] : [{ kind: 'note', lines: [check.message] } as const]),
    ],
  };
}
