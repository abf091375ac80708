import { formatInstallCommands } from '@bothost/contract';
import { UnbrokenWords } from './unbroken-words.tsx';

/** Says how to install the service's `botcli`. Shown below commands on pages whose readers may not have it. */
export function BotcliInstallation() {
  const { asRoot, asUser } = formatInstallCommands(location.origin);
  return (
    <p className="text-quiet text-xs wrap-anywhere">
      If botcli is missing, run{' '}
      <code className="font-mono">
        <UnbrokenWords text={asRoot} />
      </code>{' '}
      first, or without root{' '}
      <code className="font-mono">
        <UnbrokenWords text={asUser} />
      </code>
      .
    </p>
  );
}
