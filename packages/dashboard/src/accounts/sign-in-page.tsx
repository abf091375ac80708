import { useQuery, useQueryClient } from '@tanstack/react-query';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiClient } from '../api.ts';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Form, FormProblem } from '../components/form.tsx';
import { TextField } from '../components/text-field.tsx';
import { useForm } from '../components/use-form.ts';
import { rememberRedirect } from './openid-redirect.ts';
import { signInMethodsQuery } from './queries.ts';
import { setUser } from './session.ts';

const route = getRouteApi('/shell/sign-in');

/** The page at `/sign-in`. After sign-in, it opens the path in the URL parameter `redirect`. */
export function SignInPage() {
  const { redirect = '/' } = route.useSearch();
  const navigate = useNavigate();
  const queries = useQueryClient();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const methods = useQuery(signInMethodsQuery);
  const form = useForm(
    () => apiClient.signIn({ body: { email, password } }),
    async (user) => {
      setUser(queries, user);
      await navigate({ href: redirect, replace: true });
    },
  );
  const openId = methods.data?.openId ?? null;
  return (
    <Card title="Sign in">
      <Form form={form} className="flex flex-col gap-4">
        <FormProblem />
        <TextField
          label="E-mail"
          name="email"
          type="email"
          autoComplete="username"
          value={email}
          onValue={setEmail}
          required
        />
        <TextField
          label="Password"
          name="password"
          type="password"
          autoComplete="current-password"
          value={password}
          onValue={setPassword}
          required
        />
        <Button type="submit" disabled={form.isSending}>
          {form.isSending ? 'Signing in…' : 'Sign in'}
        </Button>
      </Form>
      {openId !== null && <OpenIdButton name={openId.name} redirect={redirect} />}
      <p className="text-quiet text-sm">
        Accounts start with an invitation. If you have none, or forgot your password, ask the operator of this service,
        who runs <code className="font-mono">{botcliCommands.inviteAsOperator()}</code>.
      </p>
    </Card>
  );
}

function OpenIdButton({ name, redirect }: { readonly name: string; readonly redirect: string }) {
  const form = useForm(
    () => apiClient.startOpenIdSignIn(),
    ({ url }) => {
      rememberRedirect(redirect);
      location.assign(url);
    },
  );
  return (
    <Form form={form} className="flex flex-col gap-3 border-line border-t pt-5">
      <FormProblem />
      <Button type="submit" variant="outline" disabled={form.isSending}>
        Continue with {name}
      </Button>
    </Form>
  );
}
