import { SendHorizontal } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { Button } from '../components/button.tsx';

type TextFormProps = {
  readonly agent: string;
  readonly disabled: boolean;
  readonly onText: (text: string) => void;
};

export function TextForm({ agent, disabled, onText }: TextFormProps) {
  const [text, setText] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    onText(text.trim());
    setText('');
  };
  return (
    <form className="flex gap-2" onSubmit={send}>
      <input
        aria-label={`Write to ${agent}`}
        className="min-h-10 min-w-0 flex-1 rounded-lg border border-field bg-surface px-3 py-2 text-base disabled:opacity-60"
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={`Write to ${agent}`}
        autoComplete="off"
        maxLength={2000}
        disabled={disabled}
      />
      <Button type="submit" variant="outline" disabled={disabled}>
        <SendHorizontal aria-hidden="true" className="size-4" />
        Send
      </Button>
    </form>
  );
}
