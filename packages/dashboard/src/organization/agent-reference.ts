/** The agent of a session. A deleted agent has no pages, and another agent can have its name. */
export type SessionAgent = { readonly agentId: string; readonly agentName: string; readonly agentDeleted: boolean };

/** Returns the name of an agent, and says whether the agent was deleted. */
export function nameAgent({ agentName, agentDeleted }: Pick<SessionAgent, 'agentName' | 'agentDeleted'>): string {
  return agentDeleted ? `${agentName} (deleted)` : agentName;
}

/** Returns what finds the sessions and the log of an agent: its name or, if it was deleted, its id. */
export function getAgentReference({ agentId, agentName, agentDeleted }: SessionAgent): string {
  return agentDeleted ? agentId : agentName;
}
