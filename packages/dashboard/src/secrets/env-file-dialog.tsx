import { findReservedSecretKeyProblem, formatCount } from '@bothost/contract';
import { parseEnvFile } from '@bothost/contract/env-file';
import { FileUp } from 'lucide-react';
import { type DragEvent, useMemo, useRef, useState } from 'react';
import { botcliCommands } from '../commands/botcli-commands.ts';
import { Alert } from '../components/alert.tsx';
import { Button } from '../components/button.tsx';
import { DialogForm } from '../components/dialog-form.tsx';
import { Field } from '../components/field.tsx';
import { useForm } from '../components/use-form.ts';
import { getOrganizationApi, useMembership } from '../organization/organization.ts';
import { useRefreshSecrets } from './queries.ts';
import { findSetNameProblem, SetNameField } from './set-name-field.tsx';

type EnvFileDialogProps = {
  /** The name of the set that is changed. Null creates a new set. */
  readonly setName: string | null;
  readonly onDone?: (setName: string) => void | Promise<void>;
  readonly onClose: () => void;
};

/** Stores the keys of a `.env` file in a set. Says which keys it will store, and which lines it cannot read. */
export function EnvFileDialog({ setName, onDone, onClose }: EnvFileDialogProps) {
  const { name: organization } = useMembership();
  const [name, setSetName] = useState(setName ?? '');
  const [text, setText] = useState('');
  const [fileProblem, setFileProblem] = useState<string | undefined>();
  const picker = useRef<HTMLInputElement>(null);
  const { pairs, problems, skipped, warnings } = useMemo(() => readKeys(text), [text]);
  const refresh = useRefreshSecrets(organization);
  const form = useForm(
    () =>
      getOrganizationApi(organization).putSecrets({
        params: { setName: name },
        body: {
          secrets: pairs.map(({ key, value }) => ({ secretKey: key, secretValue: value })),
          // Revision 0 means that the set must not exist yet, so an existing set is not overwritten.
          ...(setName === null ? { expectedRevision: 0 } : {}),
        },
      }),
    async ({ change }) => {
      const stored = pairs.length === 1 ? '1 key is stored.' : `${pairs.length} keys are stored.`;
      await refresh(change === 'none' ? 'The set has these values already.' : stored);
      await onDone?.(name);
      onClose();
    },
  );
  const read = async (file: File | undefined) => {
    if (file === undefined) return;
    try {
      setText(new TextDecoder('utf-8', { fatal: true }).decode(await file.arrayBuffer()));
      setFileProblem(undefined);
    } catch {
      setFileProblem(`${file.name} is not a text in UTF-8.`);
    }
  };
  const drop = (event: DragEvent) => {
    event.preventDefault();
    void read(event.dataTransfer.files[0]);
  };
  return (
    <DialogForm
      title="Import a .env file"
      lead={
        setName === null
          ? 'Creates a set with its keys.'
          : `Its keys are added to ${setName}, or replaced there. Other keys of the set stay as they are.`
      }
      form={form}
      submit={pairs.length === 0 ? 'Store' : `Store ${formatCount(pairs.length, 'key')}`}
      sending="Storing…"
      isValid={findSetNameProblem(name) === undefined && pairs.length > 0 && problems.length === 0}
      command={botcliCommands.setSecretsFromFile(organization, name || 'NAME', '.env')}
      onClose={onClose}
    >
      {setName === null && <SetNameField value={name} onValue={setSetName} />}
      <Field label="Lines KEY=value" name="secrets" hint="Paste them, or drop a file here." problem={fileProblem}>
        {(control) => (
          <textarea
            {...control}
            rows={7}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            placeholder="OPENAI_API_KEY=..."
            className="rounded-lg border border-field bg-surface px-3 py-2 font-mono text-sm aria-invalid:border-danger"
            value={text}
            onChange={({ target }) => setText(target.value)}
            onDragOver={(event) => event.preventDefault()}
            onDrop={drop}
          />
        )}
      </Field>
      <div>
        <Button variant="outline" size="small" onClick={() => picker.current?.click()}>
          <FileUp aria-hidden="true" className="size-4" />
          Choose a file
        </Button>
        <input
          ref={picker}
          type="file"
          aria-label="File"
          hidden
          onChange={({ target }) => void read(target.files?.[0])}
        />
      </div>
      {problems.length > 0 && (
        <Alert>
          <ul>
            {problems.map(({ where, message }) => (
              <li key={`${where.line} ${message}`}>
                Line {where.line}: {message}
              </li>
            ))}
          </ul>
        </Alert>
      )}
      {pairs.length > 0 && problems.length === 0 && (
        <ul aria-label="Keys to store" className="flex max-h-40 flex-col gap-1 overflow-y-auto text-sm">
          {pairs.map(({ key, value }) => (
            <li key={key} className="flex justify-between gap-4">
              <code className="font-mono wrap-anywhere">{key}</code>
              <span className="shrink-0 text-quiet">{formatCount(value.length, 'character')}</span>
            </li>
          ))}
        </ul>
      )}
      {[...warnings.map(({ message }) => message), ...skipped.map(({ key }) => `${key} is empty and left out.`)].map(
        (note) => (
          <p key={note} className="text-quiet text-sm">
            {note}
          </p>
        ),
      )}
    </DialogForm>
  );
}

/** Parses the text of a file, and also reports reserved keys and keys that occur twice, which the service refuses. */
function readKeys(text: string): ReturnType<typeof parseEnvFile> {
  const parsed = parseEnvFile(text, '.env');
  const seen = new Set<string>();
  const refused = parsed.pairs.flatMap(({ key, where }) => {
    const isRepeated = seen.has(key);
    seen.add(key);
    const message = isRepeated ? `${key} occurs twice` : findReservedSecretKeyProblem(key);
    return message === null ? [] : [{ where, message }];
  });
  return { ...parsed, problems: [...parsed.problems, ...refused] };
}
