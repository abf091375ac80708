import { useState } from 'react';

/** A command for a terminal, with a button that copies it. */
export function CopyCommand({ command }: { readonly command: string }) {
  const [result, setResult] = useState('');
  const copy = () =>
    // Browsers offer no clipboard to pages loaded over plain HTTP from another machine.
    (navigator.clipboard?.writeText(command) ?? Promise.reject(new Error('no clipboard'))).then(
      () => setResult('Copied'),
      () => setResult('Not copied. Select the command and copy it.'),
    );
  return (
    <div className="command">
      <code>{command}</code>
      <button type="button" onClick={copy}>
        Copy
      </button>
      <span className="quiet" role="status">
        {result}
      </span>
    </div>
  );
}
