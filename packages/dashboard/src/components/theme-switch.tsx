import { Moon, Sun } from 'lucide-react';
import { useSyncExternalStore } from 'react';
import { getCurrentTheme, setTheme, watchTheme } from '../theme.ts';
import { Button } from './button.tsx';

export function ThemeSwitch() {
  const theme = useSyncExternalStore(watchTheme, getCurrentTheme);
  const other = theme === 'dark' ? 'light' : 'dark';
  const Icon = theme === 'dark' ? Sun : Moon;
  return (
    <Button variant="quiet" className="px-2" onClick={() => setTheme(other)} aria-label={`Use the ${other} theme`}>
      <Icon aria-hidden="true" className="size-5" />
    </Button>
  );
}
