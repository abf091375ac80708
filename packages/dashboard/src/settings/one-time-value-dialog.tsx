import type { ReactNode } from 'react';
import { Button } from '../components/button.tsx';
import { CopyableText } from '../components/copyable-text.tsx';
import { Dialog } from '../components/dialog.tsx';

type OneTimeValueDialogProps = {
  readonly title: string;
  readonly lead: ReactNode;
  readonly value: string;
  /** A noun for the value, such as `link`. */
  readonly name: string;
  readonly onClose: () => void;
  readonly children?: ReactNode;
};

/** Shows a new key, token or link, which is never shown again. */
export function OneTimeValueDialog({ title, lead, value, name, onClose, children }: OneTimeValueDialogProps) {
  return (
    <Dialog title={title} lead={lead} onClose={onClose}>
      <CopyableText text={value} name={name} />
      {children}
      <Button onClick={onClose} className="self-end">
        Done
      </Button>
    </Dialog>
  );
}
