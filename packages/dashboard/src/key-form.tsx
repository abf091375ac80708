import { type FormEvent, useState } from 'react';
import { complaintAbout } from './public-key.ts';

/** Asks once for the public key that starts sessions. */
export function KeyForm({ onKey }: { readonly onKey: (key: string) => void }) {
  const [key, setKey] = useState('');
  const [complaint, setComplaint] = useState<string | undefined>(undefined);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = key.trim();
    const wrong = complaintAbout(trimmed);
    setComplaint(wrong);
    if (wrong === undefined) onKey(trimmed);
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
          aria-invalid={complaint !== undefined}
          aria-describedby="key-hint key-complaint"
        />
        <button type="submit" className="primary">
          Use it
        </button>
      </div>
      <p id="key-complaint" className="error" role="alert" hidden={complaint === undefined}>
        {complaint}
      </p>
      <p id="key-hint" className="quiet">
        Sessions are started with a public key of your organization. One was made at the first start: it is{' '}
        <code>public_key</code> in botcli's profile, which <code>npx botcli cloud auth status</code> names.{' '}
        <code>npx botcli cloud keys create NAME --kind public</code> makes another. It stays in this tab only.
      </p>
    </form>
  );
}
