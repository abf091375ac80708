import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { apiClient, describeError } from '../api.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { Card } from '../components/card.tsx';
import { Form, FormProblem } from '../components/form.tsx';
import { NewPasswordField } from '../components/new-password-field.tsx';
import { useForm } from '../components/use-form.ts';
import { forgetLinkToken, readLinkToken } from './link-token.ts';
import { linkQuery } from './queries.ts';
import { setUser } from './session.ts';

/** The page at `/reset-password`, on which a person sets a new password. A one-time link from the operator opens the page. */
export function ResetPasswordPage() {
  const [token] = useState(() => readLinkToken('/reset-password') ?? '');
  const [password, setPassword] = useState('');
  const navigate = useNavigate();
  const queries = useQueryClient();
  const link = useQuery(linkQuery(token));
  const form = useForm(
    () => apiClient.resetPassword({ body: { token, password } }),
    async (user) => {
      forgetLinkToken('/reset-password');
      setUser(queries, user);
      await navigate({ to: '/', replace: true });
    },
  );
  if (link.error !== null) {
    return (
      <Card title="This link does not work">
        <Alert>{describeError(link.error)}</Alert>
      </Card>
    );
  }
  return (
    <Card title="Choose a new password" lead={link.data?.email ?? 'Checking the link…'}>
      <Form form={form} className="flex flex-col gap-4">
        <FormProblem />
        <NewPasswordField name="password" value={password} onValue={setPassword} />
        <Button type="submit" disabled={form.isSending || link.data === undefined}>
          Set the password and sign in
        </Button>
      </Form>
      <p className="text-quiet text-sm">This ends all sessions of your account.</p>
    </Card>
  );
}
