import { type Alert, type AlertKind, alertKinds, alertWindowMinutes, formatAlertThreshold } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BellRing, Plus } from 'lucide-react';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DialogForm } from '../components/dialog-form.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { PageHeader, Section } from '../components/section.tsx';
import { SelectField } from '../components/select-field.tsx';
import { TextField } from '../components/text-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useForm } from '../components/use-form.ts';
import { useRefresh } from '../components/use-refresh.ts';
import { pollIntervalMs } from '../live-query.ts';
import { canCallOperation, getOrganizationApi, useMembership } from '../organization/organization.ts';
import { agentNamesQuery, alertsQuery } from './queries.ts';

const kindOptions = Object.entries(alertKinds) as [AlertKind, (typeof alertKinds)[AlertKind]][];
/** Empty for a kind without a threshold. */
const defaultThresholdOf = (kind: AlertKind) => String(alertKinds[kind].threshold?.default ?? '');

/** The page at `/orgs/:organization/settings/alerts`: the alerts of all agents, with their open incidents. */
export function AlertsPage() {
  const membership = useMembership();
  const organization = membership.name;
  const [open, setOpen] = useState<'create' | Alert | null>(null);
  const query = alertsQuery(organization);
  const refresh = useRefresh(query.queryKey);
  // Incidents open and close while the page is shown.
  const alerts = useQuery({ ...query, refetchInterval: pollIntervalMs });
  const isEditor = canCallOperation(membership, 'createAlert');
  const close = () => setOpen(null);
  return (
    <>
      <PageHeader
        title="Alerts"
        lead="An alert tells webhooks when an agent has a problem, and when it is over: the events alert.opened and alert.closed."
        actions={
          isEditor && (
            <Button onClick={() => setOpen('create')}>
              <Plus aria-hidden="true" className="size-4" />
              Create alert
            </Button>
          )
        }
      />
      <Section>
        <QueryBoundary query={alerts}>
          {(data) => (
            <RowList
              label="Alerts"
              items={data.alerts}
              empty={
                <EmptyState icon={BellRing} title="No alerts">
                  Create one for failed sessions, slow responses, the session limit or failed deployments of an agent.
                </EmptyState>
              }
            >
              {(alert) => (
                <AlertRow
                  key={alert.id}
                  organization={organization}
                  alert={alert}
                  onDelete={isEditor ? () => setOpen(alert) : undefined}
                />
              )}
            </RowList>
          )}
        </QueryBoundary>
      </Section>
      <EquivalentShellCommand command={botcliCommands.listAlerts(organization)} />
      {open === 'create' && (
        <CreateAlert
          organization={organization}
          onDone={async () => {
            await refresh('The alert is created.');
            close();
          }}
          onClose={close}
        />
      )}
      {open !== null && open !== 'create' && (
        <ConfirmDialog
          title="Delete the alert?"
          lead={`It no longer reports problems of ${open.agentName}. An open incident is closed.`}
          action="Delete"
          command={botcliCommands.deleteAlert(organization, open.agentName, open.id)}
          run={() =>
            getOrganizationApi(organization).deleteAlert({ params: { agentName: open.agentName, alertId: open.id } })
          }
          onDone={() => refresh('The alert is deleted.')}
          onClose={close}
        />
      )}
    </>
  );
}

type AlertRowProps = {
  readonly organization: string;
  readonly alert: Alert;
  /** Absent if the person is not allowed to delete the alert. */
  readonly onDelete: (() => void) | undefined;
};

function AlertRow({ organization, alert, onDelete }: AlertRowProps) {
  const { agentName, kind, incident } = alert;
  const threshold = formatAlertThreshold(alert);
  return (
    <Row
      title={
        <>
          <Link
            to="/orgs/$organization/agents/$agent"
            params={{ organization, agent: agentName }}
            className="hover:underline"
          >
            {agentName}
          </Link>
          {incident === null ? <Badge tone="good">OK</Badge> : <Badge tone="danger">Incident</Badge>}
        </>
      }
      facts={[
        alertKinds[kind].description,
        ...(threshold === '' ? [] : [`At least ${threshold}`]),
        ...(incident === null ? [] : [<>Open since {<RelativeTime at={incident.openedAt} />}</>]),
      ]}
      actions={
        onDelete !== undefined && (
          <Button variant="danger" size="small" onClick={onDelete} aria-label={`Delete the alert of ${agentName}`}>
            Delete
          </Button>
        )
      }
    />
  );
}

type CreateAlertProps = {
  readonly organization: string;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
};

function CreateAlert({ organization, onDone, onClose }: CreateAlertProps) {
  const agents = useQuery(agentNamesQuery(organization));
  const names = agents.data ?? [];
  const [chosenAgent, setAgent] = useState<string | null>(null);
  const [kind, setKind] = useState<AlertKind>('failed_sessions');
  const [threshold, setThreshold] = useState(defaultThresholdOf(kind));
  const [minutes, setMinutes] = useState(String(alertWindowMinutes.default));
  const { threshold: limits, hasWindow } = alertKinds[kind];
  const agentName = chosenAgent ?? names[0] ?? '';
  const rule = {
    kind,
    ...(limits === null ? {} : { threshold: Number(threshold) }),
    ...(hasWindow ? { windowMinutes: Number(minutes) } : {}),
  };
  const form = useForm(
    () => getOrganizationApi(organization).createAlert({ params: { agentName }, body: rule }),
    onDone,
  );
  return (
    <DialogForm
      title="Create an alert"
      form={form}
      submit="Create"
      isValid={agentName !== ''}
      command={botcliCommands.createAlert(organization, agentName || 'AGENT', rule)}
      onClose={onClose}
    >
      <SelectField
        label="Agent"
        options={names.map((name) => [name, name] as const)}
        value={agentName}
        onValue={setAgent}
      />
      <SelectField
        label="What to watch"
        name="kind"
        options={kindOptions.map(([value, { description }]) => [value, description] as const)}
        value={kind}
        onValue={(value) => {
          setKind(value as AlertKind);
          setThreshold(defaultThresholdOf(value as AlertKind));
        }}
      />
      {limits !== null && (
        <TextField
          label={`Threshold, in ${limits.unit}`}
          name="threshold"
          type="number"
          min={1}
          max={limits.maximum}
          value={threshold}
          onValue={setThreshold}
          required
        />
      )}
      {hasWindow && (
        <TextField
          label="Within how many minutes"
          name="windowMinutes"
          type="number"
          min={1}
          max={alertWindowMinutes.maximum}
          value={minutes}
          onValue={setMinutes}
          required
        />
      )}
    </DialogForm>
  );
}
