import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';
import { apiClient, describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { FactTable } from '../components/fact-list.tsx';
import { TextField } from '../components/text-field.tsx';
import { Decision } from './decision.tsx';
import { deviceLoginQuery } from './queries.ts';

const route = getRouteApi('/signed-in/shell/device');

/** The page at `/device`, on which a person approves or denies a login of a command-line program such as `botcli` (RFC 8628). */
export function DeviceLoginPage() {
  const { code } = route.useSearch();
  return code === undefined ? <EnterCode /> : <Decide code={code} key={code} />;
}

function EnterCode() {
  const navigate = useNavigate();
  const [code, setCode] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    void navigate({ to: '/device', search: { code: code.trim() } });
  };
  return (
    <Card title="Log in on a device" lead="Enter the code that botcli shows.">
      <form className="flex flex-col gap-4" onSubmit={submit}>
        <TextField
          label="Code"
          value={code}
          onValue={setCode}
          placeholder="ABCD-EFGH"
          autoComplete="off"
          autoCapitalize="characters"
          spellCheck={false}
          required
        />
        <Button type="submit">Continue</Button>
      </form>
    </Card>
  );
}

function Decide({ code }: { readonly code: string }) {
  const queries = useQueryClient();
  const query = deviceLoginQuery(code);
  const login = useQuery(query);
  if (login.error !== null) {
    return (
      <Card title="This code does not work">
        <Alert>{describeError(login.error)}</Alert>
      </Card>
    );
  }
  if (login.data === undefined) return <Card title="Log in on a device" lead="Checking the code…" />;
  const { deviceName, address, clientId, state, userCode } = login.data;
  if (state === 'approved') {
    return <Card title="The device is logged in" lead="You can close this page and return to your terminal." />;
  }
  if (state === 'denied') {
    return <Card title="The login was denied" lead="The device got no access. You can close this page." />;
  }
  return (
    <Card
      title="Log in on this device?"
      lead="It can do everything that you can do. Approve only if you started the login yourself, and it shows the same code."
    >
      <p className="rounded-lg border border-line bg-background py-3 text-center font-mono text-2xl tracking-widest">
        {userCode}
      </p>
      <FactTable
        facts={[
          ['Program', clientId],
          ['Device', deviceName ?? 'unknown'],
          ['Address', address ?? 'unknown'],
        ]}
      />
      <Decision
        decide={(approve) => apiClient.decideDeviceLogin({ params: { userCode: code }, body: { approve } })}
        onDone={(decided) => void queries.setQueryData(query.queryKey, decided)}
      />
    </Card>
  );
}
