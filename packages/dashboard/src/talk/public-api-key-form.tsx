import { type FormEvent, type ReactNode, useState } from 'react';
import { Button } from '../components/button.tsx';
import { Section } from '../components/section.tsx';
import { identifierInput, TextField } from '../components/text-field.tsx';
import { findKeyProblem } from './public-key.ts';

type PublicApiKeyFormProps = {
  /** Why the key in the link that opened this page is invalid. Undefined if the link contains no key or a valid one. */
  readonly linkProblem: string | undefined;
  /** Text that explains how to get a key. */
  readonly help: ReactNode;
  readonly onKey: (key: string) => void;
};

/** Asks for a public API key (`pk_…`), which the page needs to start sessions. */
export function PublicApiKeyForm({ linkProblem, help, onKey }: PublicApiKeyFormProps) {
  const [key, setKey] = useState('');
  const [problem, setProblem] = useState<string | undefined>(linkProblem);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const trimmed = key.trim();
    const found = findKeyProblem(trimmed);
    setProblem(found);
    if (found === undefined) onKey(trimmed);
  };
  return (
    <Section title="Sessions start with a key">
      <form className="flex max-w-xl flex-col gap-4 p-5 sm:p-6" onSubmit={submit} noValidate>
        <div role={problem === undefined ? undefined : 'alert'}>
          <TextField
            label="Public key"
            placeholder="pk_…"
            value={key}
            onValue={setKey}
            problem={problem}
            {...identifierInput}
          />
        </div>
        <Button type="submit" className="self-start">
          Use this key
        </Button>
        <div className="text-quiet text-sm">{help}</div>
      </form>
    </Section>
  );
}
