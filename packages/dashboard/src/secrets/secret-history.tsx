import type { SecretRevision, SecretSetDetails, SecretWriteResult } from '@bothost/contract';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Undo2 } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { RelativeTime } from '../components/time.tsx';
import {
  canCallOperation,
  createOrganizationQueryKey,
  getOrganizationApi,
  useMembership,
} from '../organization/organization.ts';
import { secretHistoryQuery, useRefreshSecrets } from './queries.ts';

const actionLabels = { set: 'Set', replace: 'Replaced all keys', unset: 'Removed', rollback: 'Rollback' } as const;

/** Lists the revisions of a secret set, newest first, with the changed keys of each revision. */
export function SecretHistory({ set: { name, revision } }: { readonly set: SecretSetDetails }) {
  const membership = useMembership();
  const { name: organization } = membership;
  const [target, setTarget] = useState<SecretRevision | null>(null);
  const history = useInfiniteQuery(secretHistoryQuery(organization, name));
  const mayRollBack = canCallOperation(membership, 'rollBackSecrets');
  return (
    <Section title="History" lead="A roll back creates a revision with the content of an earlier one.">
      <QueryBoundary query={history}>
        {({ pages }) => (
          <RowList label="History" items={pages.flatMap(({ revisions }) => revisions)} pages={history}>
            {(one) => (
              <Row
                key={one.revision}
                title={
                  <>
                    Revision {one.revision}
                    {one.current && <Badge tone="good">Current</Badge>}
                  </>
                }
                facts={[
                  one.rolledBackTo === null ? actionLabels[one.action] : `Rollback to revision ${one.rolledBackTo}`,
                  <RelativeTime key="created" at={one.createdAt} />,
                  ...describeKeys(one),
                ]}
                actions={
                  mayRollBack &&
                  !one.current && (
                    <Button
                      variant="outline"
                      size="small"
                      onClick={() => setTarget(one)}
                      aria-label={`Roll back to revision ${one.revision}`}
                    >
                      <Undo2 aria-hidden="true" className="size-4" />
                      Roll back
                    </Button>
                  )
                }
              />
            )}
          </RowList>
        )}
      </QueryBoundary>
      <EquivalentShellCommand command={botcliCommands.showSecretHistory(organization, name)} />
      {target !== null && (
        <RollBackDialog setName={name} current={revision} target={target.revision} onClose={() => setTarget(null)} />
      )}
    </Section>
  );
}

function describeKeys({ added, changed, removed }: SecretRevision): readonly string[] {
  return [
    ...(added.length === 0 ? [] : [`Added ${added.join(', ')}`]),
    ...(changed.length === 0 ? [] : [`Changed ${changed.join(', ')}`]),
    ...(removed.length === 0 ? [] : [`Removed ${removed.join(', ')}`]),
  ];
}

type RollBackDialogProps = {
  readonly setName: string;
  readonly current: number;
  readonly target: number;
  readonly onClose: () => void;
};

function RollBackDialog({ setName, current, target, onClose }: RollBackDialogProps) {
  const { name: organization } = useMembership();
  const refresh = useRefreshSecrets(organization);
  const api = getOrganizationApi(organization);
  const rollBack = (dryRun: boolean) =>
    api.rollBackSecrets({
      params: { setName },
      body: { revision: target, expectedRevision: current, ...(dryRun ? { dryRun } : {}) },
    });
  const preview = useQuery({
    queryKey: [...createOrganizationQueryKey(organization), 'rollback-preview', setName, current, target],
    queryFn: () => rollBack(true),
  });
  return (
    <ConfirmDialog
      title={`Roll back to revision ${target}?`}
      lead="Creates a new revision with its keys and values. Agents use it after their next deploy."
      action="Roll back"
      details={<QueryBoundary query={preview}>{(data) => <Changes changes={data.changes} />}</QueryBoundary>}
      command={botcliCommands.rollBackSecrets(organization, setName, target)}
      run={() => rollBack(false)}
      onDone={() => refresh(`${setName} has the content of revision ${target} again.`)}
      onClose={onClose}
    />
  );
}

const changeLabels = { new: 'Added', changed: 'Changed', removed: 'Removed', unchanged: 'Unchanged' } as const;

function Changes({ changes }: Pick<SecretWriteResult, 'changes'>) {
  const real = changes.filter(({ change }) => change !== 'unchanged');
  if (real.length === 0) return <p className="text-quiet text-sm">No value changes.</p>;
  return (
    <ul aria-label="Changes" className="flex flex-col gap-1 text-sm">
      {real.map(({ key, change }) => (
        <li key={key} className="flex justify-between gap-4">
          <code className="font-mono wrap-anywhere">{key}</code>
          <span className="text-quiet">{changeLabels[change]}</span>
        </li>
      ))}
    </ul>
  );
}
