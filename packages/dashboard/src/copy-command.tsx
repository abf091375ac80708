import { useState } from 'react';

/** A command to paste into a terminal. */
export function CopyCommand({ command }: { readonly command: string }) {
  const [answer, setAnswer] = useState('');
  const copy = () =>
    // Absent on pages that came over plain http from another machine.
    (navigator.clipboard?.writeText(command) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setAnswer('Copied'),
      () => setAnswer('Select and copy it by hand'),
    );
  return (
    <div className="command">
      <code>{command}</code>
      <button type="button" onClick={copy}>
        Copy
      </button>
      <span className="quiet" role="status">
        {answer}
      </span>
    </div>
  );
}
