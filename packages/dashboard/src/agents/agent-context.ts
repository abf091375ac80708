import type { AgentDetails } from '@bothost/contract';
import { createContext, useContext } from 'react';

export const AgentContext = createContext<AgentDetails | null>(null);

/** Returns the agent in the page's URL. Throws in components that are not rendered inside `AgentLayout`. */
export function useAgent(): AgentDetails {
  const agent = useContext(AgentContext);
  if (agent === null) throw new Error('useAgent is called outside of AgentLayout');
  return agent;
}
