import { type FormEvent, useState } from 'react';

interface TextFormProps {
  readonly agent: string;
  readonly disabled: boolean;
  readonly onText: (text: string) => void;
}

export function TextForm({ agent, disabled, onText }: TextFormProps) {
  const [text, setText] = useState('');
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (text.trim() === '') return;
    onText(text.trim());
    setText('');
  };
  return (
    <form className="row" onSubmit={send}>
      <label className="hidden" htmlFor="text">
        Write to {agent}
      </label>
      <input
        id="text"
        value={text}
        onChange={(event) => setText(event.target.value)}
        placeholder={`Write to ${agent}`}
        autoComplete="off"
        maxLength={2000}
        disabled={disabled}
      />
      <button type="submit" disabled={disabled}>
        Send
      </button>
    </form>
  );
}
