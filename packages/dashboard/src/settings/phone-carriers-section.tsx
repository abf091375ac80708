import { type PhoneCarrier, phoneCarriers, phoneCarrierTraits } from '@bothost/contract';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Badge } from '../components/badge.tsx';
import { Button } from '../components/button.tsx';
import { ConfirmDialog } from '../components/confirm-dialog.tsx';
import { DialogForm } from '../components/dialog-form.tsx';
import { EquivalentShellCommand } from '../components/equivalent-shell-command.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { Row, RowList } from '../components/row-list.tsx';
import { Section } from '../components/section.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { RelativeTime } from '../components/time.tsx';
import { useForm } from '../components/use-form.ts';
import { useRefresh } from '../components/use-refresh.ts';
import { canCallOperation, getOrganizationApi, type Membership } from '../organization/organization.ts';
import { phoneConnectionsQuery } from './queries.ts';

type OpenDialog = { readonly kind: 'connect' | 'disconnect'; readonly carrier: PhoneCarrier };

/** The section in which the credentials of phone carriers are stored, replaced and deleted. */
export function PhoneCarriersSection({ membership }: { readonly membership: Membership }) {
  const [open, setOpen] = useState<OpenDialog | null>(null);
  const organization = membership.name;
  const query = phoneConnectionsQuery(organization);
  const connections = useQuery(query);
  const refresh = useRefresh(query.queryKey);
  const label = open === null ? '' : phoneCarrierTraits[open.carrier].label;
  const close = () => setOpen(null);
  return (
    <Section
      title="Phone carriers"
      lead={
        <>
          The service answers a call only if the carrier signed its request, or its URL contains a secret of the agent.
          To get the URLs to enter at the carriers, run{' '}
          <code className="font-mono text-sm">{botcliCommands.showPhone(organization, 'AGENT')}</code>.
        </>
      }
      help="telephony#connecting-a-carrier"
    >
      <QueryBoundary query={connections}>
        {(data) => (
          <RowList label="Phone carriers" items={phoneCarriers}>
            {(carrier) => (
              <CarrierRow
                key={carrier}
                carrier={carrier}
                connectedAt={data.connections.find((one) => one.carrier === carrier)?.connectedAt ?? null}
                onOpen={canCallOperation(membership, 'connectPhone') ? (kind) => setOpen({ kind, carrier }) : null}
              />
            )}
          </RowList>
        )}
      </QueryBoundary>
      <EquivalentShellCommand command={botcliCommands.listPhoneCarriers(organization)} />
      {open?.kind === 'connect' && (
        <ConnectDialog
          organization={organization}
          carrier={open.carrier}
          onDone={() => refresh(`${label} is connected.`)}
          onClose={close}
        />
      )}
      {open?.kind === 'disconnect' && (
        <ConfirmDialog
          title={`Disconnect ${label}?`}
          lead={`The stored credential is deleted. Calls from ${label} are then refused.`}
          action="Disconnect"
          command={botcliCommands.disconnectPhone(organization, open.carrier)}
          run={() => getOrganizationApi(organization).disconnectPhone({ params: { carrier: open.carrier } })}
          onDone={() => refresh(`${label} is disconnected.`)}
          onClose={close}
        />
      )}
    </Section>
  );
}

type CarrierRowProps = {
  readonly carrier: PhoneCarrier;
  readonly connectedAt: string | null;
  /** Null if the person may not change credentials. */
  readonly onOpen: ((kind: OpenDialog['kind']) => void) | null;
};

function CarrierRow({ carrier, connectedAt, onOpen }: CarrierRowProps) {
  const { label, credential } = phoneCarrierTraits[carrier];
  if (credential === null) {
    return (
      <Row title={label} facts={['It does not sign its requests. The URLs of agents contain a secret instead.']} />
    );
  }
  return (
    <Row
      title={
        <>
          {label}
          {connectedAt !== null && <Badge tone="good">Connected</Badge>}
        </>
      }
      facts={[
        connectedAt === null ? (
          `Calls are refused until its ${credential.name} is stored.`
        ) : (
          <>
            Its {credential.name} was stored <RelativeTime at={connectedAt} />
          </>
        ),
      ]}
      actions={
        onOpen !== null && (
          <>
            <Button variant="outline" size="small" onClick={() => onOpen('connect')} aria-label={`Connect ${label}`}>
              {connectedAt === null ? 'Connect' : 'Replace'}
            </Button>
            {connectedAt !== null && (
              <Button
                variant="danger"
                size="small"
                onClick={() => onOpen('disconnect')}
                aria-label={`Disconnect ${label}`}
              >
                Disconnect
              </Button>
            )}
          </>
        )
      }
    />
  );
}

type ConnectDialogProps = {
  readonly organization: string;
  readonly carrier: PhoneCarrier;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
};

function ConnectDialog({ organization, carrier, onDone, onClose }: ConnectDialogProps) {
  const [credential, setCredential] = useState('');
  const { label, credential: rule } = phoneCarrierTraits[carrier];
  const name = rule?.name ?? 'credential';
  const form = useForm(
    () => getOrganizationApi(organization).connectPhone({ params: { carrier }, body: { credential } }),
    async () => {
      await onDone();
      onClose();
    },
  );
  return (
    <DialogForm
      title={`Connect ${label}`}
      lead={`The service verifies the signatures of ${label} with the ${name}. It is stored encrypted and not shown again.`}
      form={form}
      submit="Connect"
      sending="Connecting…"
      command={botcliCommands.connectPhone(organization, carrier)}
      onClose={onClose}
    >
      <TextField
        label={name.replace(/^./, (letter) => letter.toUpperCase())}
        name="credential"
        hint={`From ${label}'s page.`}
        type="password"
        value={credential}
        onValue={setCredential}
        required
        {...identifierInput}
      />
    </DialogForm>
  );
}
