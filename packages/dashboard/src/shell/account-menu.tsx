import type { User } from '@bothost/contract';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { BookOpen, Braces, KeyRound, LogOut, UserRound } from 'lucide-react';
import { signOut } from '../accounts/session.ts';
import { describeError } from '../api.ts';
import { Button } from '../components/button.tsx';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../components/menu.tsx';
import { useNotice } from '../components/notice.tsx';

const iconClasses = 'size-4 text-quiet';

export function AccountMenu({ user }: { readonly user: User }) {
  const queries = useQueryClient();
  const notify = useNotice();
  const leave = useMutation({
    mutationFn: () => signOut(queries),
    onError: (error) => notify(`You are still signed in. ${describeError(error)}`),
  });
  return (
    <Menu
      align="end"
      trigger={
        <Button variant="quiet" className="px-1" aria-label="Account">
          <span
            aria-hidden="true"
            className="flex size-8 items-center justify-center rounded-full bg-accent font-semibold text-accent-foreground text-sm"
          >
            {user.name.slice(0, 1).toUpperCase()}
          </span>
        </Button>
      }
    >
      <MenuLabel>
        <span className="block truncate font-medium text-foreground text-sm">{user.name}</span>
        <span className="block truncate">{user.email}</span>
      </MenuLabel>
      <MenuSeparator />
      <MenuItem asChild>
        <Link to="/settings/account">
          <UserRound aria-hidden="true" className={iconClasses} />
          Account settings
        </Link>
      </MenuItem>
      <MenuItem asChild>
        <Link to="/settings/tokens">
          <KeyRound aria-hidden="true" className={iconClasses} />
          Personal tokens
        </Link>
      </MenuItem>
      <MenuItem asChild>
        <a href="/help" target="_blank" rel="noopener">
          <BookOpen aria-hidden="true" className={iconClasses} />
          Help <span className="sr-only">(opens in a new tab)</span>
        </a>
      </MenuItem>
      <MenuItem asChild>
        <a href="/docs" target="_blank" rel="noopener">
          <Braces aria-hidden="true" className={iconClasses} />
          API reference <span className="sr-only">(opens in a new tab)</span>
        </a>
      </MenuItem>
      <MenuSeparator />
      <MenuItem onSelect={() => leave.mutate()}>
        <LogOut aria-hidden="true" className={iconClasses} />
        Sign out
      </MenuItem>
    </Menu>
  );
}
