import { type AuditEntry, auditActions, type Operations, type ResponseOf } from '@bothost/contract';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { Lock, ScrollText } from 'lucide-react';
import { describeError } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FilterField } from '../components/filter-field.tsx';
import { periodOptions } from '../components/period.ts';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { uuidPattern } from '../components/uuid.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import type { AuditFilter } from './audit-filter.ts';
import { auditQuery } from './queries.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/settings/audit');
/** The audit log is long-lived, so the page offers no period of minutes or a few hours. */
const periods = periodOptions.filter(([value]) => !['15m', '1h'].includes(value));

/** The page at `/orgs/:organization/settings/audit`: the audit log. The filter is stored in the page's URL. */
export function AuditPage() {
  const membership = useMembership();
  if (canCallOperation(membership, 'listAuditEntries')) return <AuditLog organization={membership.name} />;
  return (
    <>
      <PageHeader title="Audit log" />
      <Section>
        <EmptyState icon={Lock} title="Your role does not include the audit log">
          Your role in this organization is {membership.role}. Ask an owner.
        </EmptyState>
      </Section>
    </>
  );
}

function AuditLog({ organization }: { readonly organization: string }) {
  const filter = route.useSearch();
  const navigate = useNavigate();
  const setFilter = (change: AuditFilter) =>
    navigate({
      to: '/orgs/$organization/settings/audit',
      params: { organization },
      search: { ...filter, ...change },
      replace: true,
    });
  const verification = useMutation({ mutationFn: () => getOrganizationApi(organization).verifyAudit() });
  return (
    <>
      <div className="flex flex-col gap-3">
        <PageHeader
          title="Audit log"
          lead="Who signed in, deployed, stopped sessions, and changed or read secrets, API keys, members and the organization, and who was refused. Entries cannot be changed."
          actions={
            <Button variant="outline" onClick={() => verification.mutate()} disabled={verification.isPending}>
              {verification.isPending ? 'Verifying…' : 'Verify the log'}
            </Button>
          }
        />
        <VerificationResult data={verification.data} error={verification.error} />
      </div>
      <div className="grid gap-4 sm:grid-cols-2 lg:grid-cols-4">
        <SelectField
          label="Action"
          options={[['', 'All actions'], ...auditActions.map((action) => [action, action] as const)]}
          value={filter.action ?? ''}
          onValue={(action) => void setFilter({ action: action || undefined })}
        />
        <FilterField
          label="Object"
          placeholder="Agent, secret set or id"
          value={filter.object}
          onValue={(object) => void setFilter({ object: object?.trim() || undefined })}
        />
        <FilterField
          label="Person or key"
          placeholder="E-mail or key name"
          value={filter.actor}
          onValue={(actor) => void setFilter({ actor: actor?.trim() || undefined })}
        />
        <SelectField
          label="Time"
          options={periods}
          value={filter.since ?? ''}
          onValue={(since) => void setFilter({ since: since || undefined })}
        />
      </div>
      <Entries organization={organization} filter={filter} />
      <EquivalentShellCommand command={botcliCommands.listAuditEntries(organization, filter)} />
    </>
  );
}

function Entries({ organization, filter }: { readonly organization: string; readonly filter: AuditFilter }) {
  const pages = useInfiniteQuery(auditQuery(organization, filter));
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Section>
      <QueryBoundary query={pages}>
        {(data) => (
          <RowList
            label="Audit log"
            items={data.pages.flatMap((page) => page.entries)}
            pages={pages}
            empty={
              <EmptyState icon={ScrollText} title="No entries">
                {isFiltered
                  ? 'No entry matches. Change the filter.'
                  : 'Entries appear when somebody changes something.'}
              </EmptyState>
            }
          >
            {(entry) => <Entry key={entry.sequence} entry={entry} />}
          </RowList>
        )}
      </QueryBoundary>
    </Section>
  );
}

const doneResults: readonly string[] = ['done', 'started', 'unchanged', 'dry-run'];

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { action, object, keys, result, count, address, at, sequence } = entry;
  // An id says nothing to a reader, and `keys` then have a name.
  const names = object === null || (uuidPattern.test(object) && keys.length > 0) ? keys : [object, ...keys];
  return (
    <Row
      title={
        <>
          <code className="font-mono text-sm">{action}</code>
          {names.length > 0 && <span className="wrap-anywhere">{names.join(', ')}</span>}
          {result !== 'done' && <Badge tone={doneResults.includes(result) ? 'neutral' : 'danger'}>{result}</Badge>}
          {count > 1 && <Badge>{count} requests</Badge>}
        </>
      }
      facts={[
        describeActor(entry),
        ...describeRevisions(entry),
        ...(address === null ? [] : [address]),
        <RelativeTime key="at" at={at} />,
        `#${sequence}`,
      ]}
    />
  );
}

/** Says how a write changed the revision of a secret set. */
function describeRevisions({ revisionBefore, revisionAfter }: AuditEntry): readonly string[] {
  if (revisionAfter === null) return [];
  return [revisionBefore === null ? `Revision ${revisionAfter}` : `Revision ${revisionBefore} to ${revisionAfter}`];
}

function describeActor({ action, userEmail, keyName, keyId, requestId }: AuditEntry): string {
  if (userEmail !== null) return userEmail;
  if (keyId !== null) return keyName === null ? keyId : `API key ${keyName}`;
  if (requestId === null) return 'The service';
  return action === 'account.sign-in' ? 'Not signed in' : 'The operator';
}

type VerificationResultProps = {
  readonly data: ResponseOf<Operations['verifyAudit']> | undefined;
  readonly error: Error | null;
};

function VerificationResult({ data, error }: VerificationResultProps) {
  return (
    <>
      <p role="status" className="text-good text-sm">
        {data?.ok === true && `${data.entries.toLocaleString('en')} entries verified.`}
      </p>
      {data?.ok === false && <Alert>The log was changed at entry {data.brokenAt ?? 'unknown'}.</Alert>}
      {error !== null && <Alert>{describeError(error)}</Alert>}
    </>
  );
}
