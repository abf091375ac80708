import { z } from 'zod';
import { pageRows } from '../limits.ts';

/** ISO 8601 with milliseconds and `Z` (decisions, "session object"). */
export const Time = z.string().meta({ format: 'date-time' });
export const Id = z.string().meta({ format: 'uuid' });

/** An agent's name in a path. Any text is taken here: a name that cannot exist is simply not found (404). */
export const AgentPath = z.object({ agentName: z.string().describe('Name of the agent') });

export const none = z.object({});
export const noBody = z.undefined();

/** Paging: `limit` and `offset` as existing clients send them, or `cursor`, which is stable under insertion. */
export const Paging = {
  limit: z.coerce.number<number>().int().min(1).max(pageRows.maximum).default(pageRows.default),
  offset: z.coerce.number<number>().int().min(0).default(0),
  cursor: z.string().optional().describe('nextCursor of the page before; offset is ignored then'),
};
