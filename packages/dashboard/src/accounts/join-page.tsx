import { type User, userAccountLimits } from '@bothost/contract';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiClient, describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Form, FormProblem } from '../components/form.tsx';
import { NewPasswordField } from '../components/new-password-field.tsx';
import { QueryBoundary } from '../components/query-boundary.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { forgetLinkToken, readLinkToken } from './link-token.ts';
import { linkQuery } from './queries.ts';
import { setUser, userQuery } from './session.ts';

/** The page at `/join`, on which a person accepts an invitation with a new or an existing account. */
export function JoinPage() {
  const [token] = useState(() => readLinkToken('/join'));
  const user = useQuery(userQuery);
  const link = useQuery(linkQuery(token));
  if (link.error !== null) {
    return (
      <Card title="This link does not work">
        <Alert>{describeError(link.error)}</Alert>
      </Card>
    );
  }
  if (link.data === undefined) return <Card title="Invitation" lead="Checking the link…" />;
  const { organization, role, email } = link.data;
  const lead = `You are invited to the organization ${organization ?? ''} as ${role ?? 'member'}.`;
  if (user.data === undefined) {
    return (
      <Card title="Invitation" lead={lead}>
        <QueryBoundary query={user}>{() => null}</QueryBoundary>
      </Card>
    );
  }
  if (user.data !== null) return <Accept lead={lead} token={token ?? ''} user={user.data} />;
  return <SignUp lead={lead} token={token ?? ''} email={email} />;
}

function useJoined() {
  const navigate = useNavigate();
  const queries = useQueryClient();
  return async (user: User) => {
    forgetLinkToken('/join');
    setUser(queries, user);
    await navigate({ to: '/', replace: true });
  };
}

function Accept({ lead, token, user }: { readonly lead: string; readonly token: string; readonly user: User }) {
  const form = useForm(() => apiClient.acceptInvitation({ body: { token } }), useJoined());
  return (
    <Card title="Join the organization" lead={lead}>
      <Form form={form} className="flex flex-col gap-4">
        <FormProblem />
        <Button type="submit" disabled={form.isSending}>
          Join as {user.email}
        </Button>
      </Form>
    </Card>
  );
}

type SignUpProps = { readonly lead: string; readonly token: string; readonly email: string | null };

function SignUp({ lead, token, email: invited }: SignUpProps) {
  const [email, setEmail] = useState(invited ?? '');
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const form = useForm(() => apiClient.signUp({ body: { token, email, name, password } }), useJoined());
  return (
    <Card title="Create your account" lead={lead}>
      <Form form={form} className="flex flex-col gap-4">
        <FormProblem />
        <TextField
          label="Name"
          name="name"
          autoComplete="name"
          value={name}
          onValue={setName}
          required
          maxLength={userAccountLimits.nameLength}
        />
        <TextField
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          value={email}
          onValue={setEmail}
          readOnly={invited !== null}
          required
        />
        <NewPasswordField name="password" value={password} onValue={setPassword} />
        <Button type="submit" disabled={form.isSending}>
          {form.isSending ? 'Creating…' : 'Create account'}
        </Button>
      </Form>
      <p className="text-quiet text-sm">
        You have an account?{' '}
        <Link to="/sign-in" search={{ redirect: '/join' }} className="text-accent underline">
          Sign in to accept the invitation
        </Link>
      </p>
    </Card>
  );
}
