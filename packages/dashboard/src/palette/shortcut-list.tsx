import { Dialog } from '../components/dialog.tsx';
import { shortcutKeys } from './shortcut-keys.ts';

type ShortcutListProps = { readonly labels: readonly string[]; readonly onClose: () => void };

export function ShortcutList({ labels, onClose }: ShortcutListProps) {
  const pages = [...shortcutKeys(labels)].map(([key, label]) => [['g', key], `Open ${label}`] as const);
  const shortcuts = [
    [['Ctrl or ⌘', 'K'], 'Open the command palette'] as const,
    [['?'], 'Show this list'] as const,
    [['Esc'], 'Close a dialog'] as const,
    [['J'], 'Next turn, on the page of a session'] as const,
    [['K'], 'Previous turn, on the page of a session'] as const,
    ...pages,
  ];
  return (
    <Dialog title="Keyboard shortcuts" onClose={onClose}>
      <dl className="flex flex-col divide-y divide-line">
        {shortcuts.map(([keys, action]) => (
          <div key={action} className="flex items-center justify-between gap-4 py-2 text-sm">
            <dt>{action}</dt>
            <dd className="flex gap-1">
              {keys.map((key) => (
                <kbd
                  key={key}
                  className="whitespace-nowrap rounded-md border border-line bg-background px-2 py-0.5 font-mono text-xs"
                >
                  {key}
                </kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
