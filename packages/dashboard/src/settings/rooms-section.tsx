import type { RoomConnection } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DialogForm } from '../components/dialog-form.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { FactTable } from '../components/fact-list.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Section } from '../components/section.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useForm } from '../components/use-form.ts';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, type Membership } from '../organization/organization.ts';
import { roomConnectionsQuery } from './queries.ts';

/** The section in which the organization's key of Daily is stored, replaced and deleted. */
export function RoomsSection({ membership }: { readonly membership: Membership }) {
  const [open, setOpen] = useState<'connect' | 'disconnect' | null>(null);
  const organization = membership.name;
  const query = roomConnectionsQuery(organization);
  const connections = useQuery(query);
  const refresh = useRefresh(query.queryKey);
  const daily = connections.data?.connections.find(({ provider }) => provider === 'daily');
  const close = () => setOpen(null);
  return (
    <Section
      title="Rooms"
      lead="With a key of Daily, sessions can start in rooms, with several participants and phone calls."
      help="rooms#connect-daily"
    >
      <QueryBoundary query={connections}>
        {() => (
          <div className="flex flex-col gap-4 px-5 py-5 sm:px-6">
            {daily === undefined ? <p className="text-sm">Daily is not connected.</p> : <Connection {...daily} />}
            {canCallOperation(membership, 'connectRooms') && (
              <div className="flex flex-wrap gap-3">
                <Button variant="outline" onClick={() => setOpen('connect')}>
                  {daily === undefined ? 'Connect Daily' : 'Replace key'}
                </Button>
                {daily !== undefined && (
                  <Button variant="danger" onClick={() => setOpen('disconnect')}>
                    Disconnect
                  </Button>
                )}
              </div>
            )}
            <EquivalentShellCommand command={botcliCommands.listRooms(organization)} />
          </div>
        )}
      </QueryBoundary>
      {open === 'connect' && (
        <ConnectDialog organization={organization} onDone={() => refresh('Daily is connected.')} onClose={close} />
      )}
      {open === 'disconnect' && (
        <ConfirmDialog
          title="Disconnect Daily?"
          lead="Deletes the stored key, without which sessions cannot start in rooms. This is refused while rooms exist."
          action="Disconnect"
          command={botcliCommands.disconnectRooms(organization)}
          run={() => getOrganizationApi(organization).disconnectRooms({ params: { provider: 'daily' } })}
          onDone={() => refresh('Daily is disconnected.')}
          onClose={close}
        />
      )}
    </Section>
  );
}

function Connection({ account, signsDialin, openRooms, connectedAt }: RoomConnection) {
  return (
    <FactTable
      facts={[
        ['Domain', account],
        ['Phone calls', signsDialin ? 'Daily signs each call' : 'The address of an agent contains a secret'],
        ['Open rooms', String(openRooms)],
        ['Connected', <RelativeTime key="connected" at={connectedAt} />],
      ]}
    />
  );
}

type ConnectDialogProps = {
  readonly organization: string;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
};

function ConnectDialog({ organization, onDone, onClose }: ConnectDialogProps) {
  const [apiKey, setApiKey] = useState('');
  const [dialinSecret, setDialinSecret] = useState('');
  const body = dialinSecret === '' ? { apiKey } : { apiKey, dialinSecret };
  const form = useForm(
    () => getOrganizationApi(organization).connectRooms({ params: { provider: 'daily' }, body }),
    async () => {
      await onDone();
      onClose();
    },
  );
  return (
    <DialogForm
      title="Connect Daily"
      lead="The service asks Daily whether the key is valid, and stores it encrypted. It is not shown again."
      form={form}
      submit="Connect"
      sending="Connecting…"
      command={botcliCommands.connectRooms(organization, dialinSecret !== '')}
      onClose={onClose}
    >
      <TextField
        label="API key"
        name="apiKey"
        hint="From the page Developers of Daily's dashboard."
        type="password"
        value={apiKey}
        onValue={setApiKey}
        required
        {...identifierInput}
      />
      <TextField
        label="Secret for calls (optional)"
        name="dialinSecret"
        hint="The field hmac of pinless_dialin. If you enter it, calls that Daily has not signed are refused. If you leave this empty, a stored secret stays."
        type="password"
        value={dialinSecret}
        onValue={setDialinSecret}
        {...identifierInput}
      />
    </DialogForm>
  );
}
