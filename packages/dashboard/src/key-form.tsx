import { type FormEvent, useState } from 'react';
import { problemWithKey } from './public-key.ts';

/** Asks for the public key that starts sessions. */
export function KeyForm({ onKey }: { readonly onKey: (key: string) => void }) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = key.trim();
    const found = problemWithKey(trimmed);
    setProblem(found);
    if (found === undefined) onKey(trimmed);
  };
  return (
    <form className="key" onSubmit={submit} noValidate>
      <label htmlFor="key">Public key</label>
      <div className="row">
        <input
          id="key"
          value={key}
          onChange={(event) => setKey(event.target.value)}
          placeholder="pk_…"
          autoCapitalize="none"
          autoComplete="off"
          spellCheck={false}
          aria-invalid={problem !== undefined}
          aria-describedby="key-hint key-problem"
        />
        <button type="submit" className="primary">
          Use this key
        </button>
      </div>
      <p id="key-problem" className="error" role="alert" hidden={problem === undefined}>
        {problem}
      </p>
      <p id="key-hint" className="quiet">
        Starting a session needs a public key of your organization. The service created one at its first start: it is{' '}
        <code>public_key</code> in the profile whose path <code>npx botcli cloud auth status</code> shows. To create
        another, run <code>npx botcli cloud keys create NAME --kind public</code>. Only this browser tab stores the key.
      </p>
    </form>
  );
}
