import { useQuery } from '@tanstack/react-query';
import { useNavigate, useParams } from '@tanstack/react-router';
import { Command } from 'cmdk';
import { type ReactNode, useState } from 'react';
import { useUser } from '../accounts/session.ts';
import { agentNamesQuery } from '../agents/queries.ts';
import { Dialog } from '../components/dialog.tsx';
import { uuidPattern } from '../components/uuid.ts';
import { loadHelpSearch } from '../help/search-help.ts';
import { findMembership, findPreferredMembership } from '../organization/organization.ts';
import { organizationSettingsPages } from '../organization/settings-pages.ts';
import { getCurrentTheme, setTheme } from '../theme.ts';
import type { NavigationItem } from './navigation-item.ts';

type CommandPaletteProps = {
  readonly pages: readonly NavigationItem[];
  readonly onClose: () => void;
  readonly onShortcuts: () => void;
};

/** A dialog that opens a page, an agent or an organization by its name, a session by its id, or a section of the help. */
export function CommandPalette({ pages, onClose, onShortcuts }: CommandPaletteProps) {
  const navigate = useNavigate();
  const [text, setText] = useState('');
  const user = useUser();
  const { organization = '' } = useParams({ strict: false });
  const membership = findMembership(user, organization) ?? findPreferredMembership(user);
  const name = membership?.name ?? '';
  const agents = useQuery({ ...agentNamesQuery(name), enabled: membership !== undefined });
  const choose = (action: () => void) => () => {
    onClose();
    action();
  };
  // cmdk selects the first item that it gets, and keeps it when a better one arrives. So the agents must arrive before the help.
  const sections = useHelpSections(agents.isLoading ? '' : text);
  const openAgent = (agent: string) => () =>
    void navigate({ to: '/orgs/$organization/agents/$agent', params: { organization: name, agent } });
  const talkTo = (agent: string) => () =>
    void navigate({ to: '/orgs/$organization/talk/$agent', params: { organization: name, agent } });
  const id = text.trim().toLowerCase();
  const isId = uuidPattern.test(id);
  const openSession = () =>
    void navigate({ to: '/orgs/$organization/sessions/$sessionId', params: { organization: name, sessionId: id } });
  const otherTheme = getCurrentTheme() === 'dark' ? 'light' : 'dark';
  return (
    <Dialog title="Go to" onClose={onClose}>
      {/* Remove the tab index that cmdk sets on this element, so that the opened dialog focuses the input field. */}
      <Command label="Command palette" loop tabIndex={undefined}>
        <Command.Input
          value={text}
          onValueChange={setText}
          placeholder="Page, agent, session id or help"
          className="min-h-10 w-full rounded-lg border border-field bg-surface px-3 py-2 text-base"
        />
        <Command.List className="mt-3 max-h-80 overflow-y-auto">
          {sections.length === 0 && !isId && !agents.isLoading && (
            <Command.Empty className="px-3 py-6 text-center text-quiet text-sm">Nothing has this name.</Command.Empty>
          )}
          {isId && (
            <Group heading="Sessions" isFiltered={false}>
              <Item key={id} isFiltered={false} onSelect={choose(openSession)}>{`Open session ${id}`}</Item>
            </Group>
          )}
          <Group heading="Pages">
            {pages.map(({ label, open }) => (
              <Item key={label} onSelect={choose(open)}>
                {label}
              </Item>
            ))}
            {/* The page "Settings" of the navigation is the first of them. */}
            {membership !== undefined &&
              organizationSettingsPages.slice(1).map(({ label, to }) => (
                <Item
                  key={label}
                  keywords={['Settings']}
                  onSelect={choose(() => void navigate({ to, params: { organization: name } }))}
                >
                  {label}
                </Item>
              ))}
            <Item onSelect={choose(() => void navigate({ to: '/settings/account' }))}>Account settings</Item>
            <Item onSelect={choose(() => void navigate({ to: '/settings/tokens' }))}>Personal tokens</Item>
            <Item value="Help" onSelect={choose(() => openInNewTab('/help'))}>
              Help (opens in a new tab)
            </Item>
            <Item value="API reference" onSelect={choose(() => openInNewTab('/docs'))}>
              API reference (opens in a new tab)
            </Item>
          </Group>
          {agents.data !== undefined && agents.data.agents.length > 0 && (
            <Group heading="Agents">
              {agents.data.agents.map((agent) => (
                <Item key={agent.name} onSelect={choose(openAgent(agent.name))}>
                  {`Open ${agent.name}`}
                </Item>
              ))}
              {agents.data.agents.map((agent) => (
                <Item key={agent.id} onSelect={choose(talkTo(agent.name))}>
                  {`Talk to ${agent.name}`}
                </Item>
              ))}
            </Group>
          )}
          {user.organizations.length > 1 && (
            <Group heading="Organizations">
              {user.organizations.map((one) => (
                <Item
                  key={one.id}
                  keywords={[one.name]}
                  onSelect={choose(
                    () => void navigate({ to: '/orgs/$organization', params: { organization: one.name } }),
                  )}
                >
                  {`Switch to ${one.verboseName}`}
                </Item>
              ))}
            </Group>
          )}
          {sections.length > 0 && (
            <Group heading="Help (opens in a new tab)" isFiltered={false}>
              {sections.map(({ address, heading, document }) => (
                <Item key={address} value={address} isFiltered={false} onSelect={choose(() => openInNewTab(address))}>
                  {heading === document ? heading : `${heading} · ${document}`}
                </Item>
              ))}
            </Group>
          )}
          <Group heading="Actions">
            <Item onSelect={choose(() => setTheme(otherTheme))}>{`Use the ${otherTheme} theme`}</Item>
            <Item onSelect={onShortcuts}>Keyboard shortcuts</Item>
          </Group>
        </Command.List>
      </Command>
    </Dialog>
  );
}

/** Opens a page outside the dashboard. Leaving the current page would end a conversation and lose what a person typed. */
function openInNewTab(address: string): void {
  window.open(address, '_blank', 'noopener');
}

const helpSectionsAtMost = 5;

/** Returns the sections of the help that match what a person types. */
function useHelpSections(text: string) {
  const search = useQuery({ queryKey: ['help-search'], queryFn: loadHelpSearch, staleTime: Number.POSITIVE_INFINITY });
  return text.trim().length < 3 || search.data === undefined ? [] : search.data(text).slice(0, helpSectionsAtMost);
}

type GroupProps = { readonly heading: string; readonly isFiltered?: boolean; readonly children: ReactNode };

function Group({ heading, isFiltered = true, children }: GroupProps) {
  return (
    <Command.Group
      heading={heading}
      forceMount={!isFiltered}
      className="**:[[cmdk-group-heading]]:px-3 **:[[cmdk-group-heading]]:pt-3 **:[[cmdk-group-heading]]:pb-1 **:[[cmdk-group-heading]]:text-quiet **:[[cmdk-group-heading]]:text-xs"
    >
      {children}
    </Command.Group>
  );
}

type ItemProps = {
  readonly onSelect: () => void;
  /** The words by which the item is found, which also distinguish it from items with the same text. */
  readonly value?: string;
  /** Additional search words for the item. */
  readonly keywords?: string[];
  /** Whether the item is shown only if its words contain what a person types. */
  readonly isFiltered?: boolean;
  readonly children: string;
};

function Item({ onSelect, children, value = children, keywords = [], isFiltered = true }: ItemProps) {
  return (
    <Command.Item
      // Pass the text explicitly: cmdk reads it only from rendered items, so a search would miss an item that is added later.
      value={value}
      keywords={keywords}
      forceMount={!isFiltered}
      onSelect={onSelect}
      className="flex min-h-9 cursor-pointer items-center rounded-lg px-3 text-sm data-[selected=true]:bg-line/60"
    >
      <span>{children}</span>
    </Command.Item>
  );
}
