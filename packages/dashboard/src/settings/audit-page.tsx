import { type AuditEntry, auditActions } from '@bothost/contract';
import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { ScrollText } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { describeError } from '../api.ts';
import { formatCloudCommand } from '../commands/shell-command.ts';
import { Alert } from '../components/alert.tsx';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/loaded.tsx';
import { RelativeTime } from '../components/moment.tsx';
import { computePeriodStartSeconds, periodOptions } from '../components/period.ts';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import {
  canCallOperation,
  createOrganizationQueryKey,
  getOrganizationApi,
  useMembership,
} from '../organization/organization.ts';
import { type AuditFilter, formatBotcliAuditOptions } from './audit-filter.ts';

const route = getRouteApi('/signed-in/app/orgs/$organization/settings/audit');
/** The audit log is long-lived, so the page offers no period of minutes or a few hours. */
const periods = periodOptions.filter(([value]) => !['15m', '1h'].includes(value));

/** The page at `/orgs/:organization/settings/audit`: the audit log. The filter is stored in the page's URL. */
export function AuditPage() {
  const membership = useMembership();
  const filter = route.useSearch();
  const navigate = useNavigate();
  const organization = membership.name;
  const setFilter = (change: AuditFilter) =>
    navigate({
      to: '/orgs/$organization/settings/audit',
      params: { organization },
      search: { ...filter, ...change },
      replace: true,
    });
  if (!canCallOperation(membership, 'listAuditEntries')) {
    return <PageHeader title="Audit log" lead="Your role does not include the audit log. Ask an owner." />;
  }
  return (
    <>
      <PageHeader
        title="Audit log"
        lead="Who signed in, deployed, stopped sessions, and changed or read secrets, API keys, members and the organization, and who was refused. Entries cannot be changed."
        actions={<Verification organization={organization} />}
      />
      <div className="grid gap-4 sm:grid-cols-3">
        <SelectField
          label="Action"
          options={[['', 'All actions'], ...auditActions.map((action) => [action, action] as const)]}
          value={filter.action ?? ''}
          onValue={(action) => void setFilter({ action: action || undefined })}
        />
        <ObjectFilter
          value={filter.object ?? ''}
          onValue={(object) => void setFilter({ object: object || undefined })}
        />
        <SelectField
          label="Time"
          options={periods}
          value={filter.since ?? ''}
          onValue={(since) => void setFilter({ since: since || undefined })}
        />
      </div>
      <Entries organization={organization} filter={filter} />
      <EquivalentShellCommand
        command={formatCloudCommand(organization, 'audit', 'list', ...formatBotcliAuditOptions(filter))}
      />
    </>
  );
}

type ObjectFilterProps = { readonly value: string; readonly onValue: (value: string) => void };

/** A filter field that applies its text on Enter or when it loses the focus, because each change sends a request. */
function ObjectFilter({ value, onValue }: ObjectFilterProps) {
  const [entered, setEntered] = useState(value);
  const apply = () => {
    if (entered.trim() !== value) onValue(entered.trim());
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    apply();
  };
  return (
    <form onSubmit={submit}>
      <TextField
        label="Object"
        placeholder="Agent, secret set or id"
        value={entered}
        onValue={setEntered}
        onBlur={apply}
        autoCapitalize="none"
        autoComplete="off"
        spellCheck={false}
      />
    </form>
  );
}

function Entries({ organization, filter }: { readonly organization: string; readonly filter: AuditFilter }) {
  const { action, object, result, since } = filter;
  const pages = useInfiniteQuery({
    queryKey: [...createOrganizationQueryKey(organization), 'audit', filter],
    queryFn: ({ pageParam, signal }) => {
      const startTime = computePeriodStartSeconds(since, Date.now());
      const period = startTime === undefined ? {} : { since: new Date(startTime * 1_000).toISOString() };
      const query = { action, object, result, ...period, cursor: pageParam };
      return getOrganizationApi(organization).listAuditEntries({ query }, signal);
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
  });
  const isFiltered = Object.values(filter).some((value) => value !== undefined);
  return (
    <Section>
      <QueryBoundary query={pages}>
        {(data) => {
          const entries = data.pages.flatMap((page) => page.entries);
          if (entries.length === 0) {
            return (
              <EmptyState icon={ScrollText} title="No entries">
                {isFiltered
                  ? 'No entry matches. Change the filter.'
                  : 'Entries appear when somebody changes something.'}
              </EmptyState>
            );
          }
          return (
            <RowList label="Audit log">
              {entries.map((entry) => (
                <Entry key={entry.sequence} entry={entry} />
              ))}
            </RowList>
          );
        }}
      </QueryBoundary>
      {pages.hasNextPage && (
        <div className="flex justify-center border-line border-t p-4">
          <Button variant="outline" onClick={() => void pages.fetchNextPage()} disabled={pages.isFetchingNextPage}>
            {pages.isFetchingNextPage ? 'Loading…' : 'Load older entries'}
          </Button>
        </div>
      )}
    </Section>
  );
}

const isUuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const doneResults: readonly string[] = ['done', 'started', 'unchanged', 'dry-run'];

function Entry({ entry }: { readonly entry: AuditEntry }) {
  const { action, object, keys, result, count, address, at, sequence } = entry;
  // An id says nothing to a reader, and `keys` then have a name.
  const names = object === null || (isUuid.test(object) && keys.length > 0) ? keys : [object, ...keys];
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
        ...(address === null ? [] : [address]),
        <RelativeTime key="at" at={at} />,
        `#${sequence}`,
      ]}
    />
  );
}

function describeActor({ action, userEmail, keyName, keyId, requestId }: AuditEntry): string {
  if (userEmail !== null) return userEmail;
  if (keyId !== null) return keyName === null ? keyId : `API key ${keyName}`;
  if (requestId === null) return 'The service';
  return action === 'account.sign-in' ? 'Not signed in' : 'The operator';
}

function Verification({ organization }: { readonly organization: string }) {
  const verification = useMutation({ mutationFn: () => getOrganizationApi(organization).verifyAudit() });
  const { data, error, isPending } = verification;
  return (
    <div className="flex flex-col items-start gap-2 sm:items-end">
      <Button variant="outline" onClick={() => verification.mutate()} disabled={isPending}>
        {isPending ? 'Verifying…' : 'Verify the log'}
      </Button>
      <p role="status" className="text-good text-sm">
        {data?.ok === true && `${data.entries} entries verified.`}
      </p>
      {data?.ok === false && <Alert>The log was changed at entry {data.brokenAt ?? 'unknown'}.</Alert>}
      {error !== null && <Alert>{describeError(error)}</Alert>}
    </div>
  );
}
