import { X } from 'lucide-react';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { Button } from './button.tsx';

type DialogProps = {
  readonly title: string;
  readonly lead?: ReactNode;
  readonly onClose: () => void;
  readonly children: ReactNode;
};

/**
 * A modal dialog that is open as long as it is rendered. Uses the browser's `<dialog>`, because the dialog of Radix adds a style
 * element that the content security policy does not allow.
 */
export function Dialog({ title, lead, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
    return () => {
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, [opener]);
  return (
    <dialog
      ref={dialog}
      aria-labelledby={titleId}
      onClose={onClose}
      className="m-auto w-[calc(100%-2rem)] max-w-lg rounded-2xl border border-line bg-surface p-6 text-foreground shadow-2xl backdrop:bg-black/50"
    >
      <div className="flex flex-col gap-5">
        <div className="flex flex-col gap-1.5 pr-10">
          <h2 id={titleId} className="font-semibold text-xl tracking-tight">
            {title}
          </h2>
          {lead !== undefined && <p className="text-quiet text-sm">{lead}</p>}
        </div>
        {children}
      </div>
      {/* The Close button is the last element, so that the opened dialog focuses its first field. */}
      <Button variant="quiet" onClick={onClose} aria-label="Close" className="absolute top-4 right-4 px-2">
        <X aria-hidden="true" className="size-5" />
      </Button>
    </dialog>
  );
}
