import type { User } from '@bothost/contract';
import { Link } from '@tanstack/react-router';
import { Check, ChevronsUpDown, Plus } from 'lucide-react';
import { Button } from '../components/button.tsx';
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../components/menu.tsx';
import type { Membership } from '../organization/organization.ts';

type OrganizationSwitcherProps = { readonly user: User; readonly current: Membership | undefined };

/** Menu that switches to another organization of the person. */
export function OrganizationSwitcher({ user, current }: OrganizationSwitcherProps) {
  const name = current?.verboseName ?? 'Choose an organization';
  return (
    <Menu
      trigger={
        <Button variant="quiet" className="min-w-0 px-2 text-foreground" aria-label={`Organization: ${name}`}>
          <span className="truncate">{name}</span>
          <ChevronsUpDown aria-hidden="true" className="size-4 shrink-0 text-quiet" />
        </Button>
      }
    >
      <MenuLabel>Organizations</MenuLabel>
      {user.organizations.map((organization) => (
        <MenuItem key={organization.id} asChild>
          <Link to="/orgs/$organization" params={{ organization: organization.name }}>
            <span className="min-w-0 flex-1 truncate">{organization.verboseName}</span>
            <span className="text-quiet text-xs">{organization.role}</span>
            <Check
              aria-hidden="true"
              className={organization.id === current?.id ? 'size-4 text-accent' : 'invisible size-4'}
            />
          </Link>
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem asChild>
        <Link to="/orgs">
          <Plus aria-hidden="true" className="size-4 text-quiet" />
          Create an organization
        </Link>
      </MenuItem>
    </Menu>
  );
}
