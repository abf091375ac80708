import { z } from 'zod';
import { itemsPerPage, maxRequestBodyBytes } from '../limits.ts';

/** An ISO 8601 time with milliseconds and `Z`. */
export const IsoDateTime = z.string().meta({ format: 'date-time' });
export const Uuid = z.string().meta({ format: 'uuid' });

/** Unix time in seconds with fractions, up to the end of the year 9999. */
export const UnixSeconds = z.coerce
  .number<number>()
  .min(0)
  .max(253_402_300_799)
  .describe('Unix time in seconds, fractions allowed')
  .optional();

/** An agent's name in a path. Accepts any text, so that the response to an invalid name is 404 instead of 400. */
export const AgentPathParameters = z.object({ agentName: z.string().describe('Name of the agent') });

/** A field of an item with the name of an agent. */
export const agentDeleted = z
  .boolean()
  .describe('Whether the agent was deleted. Then only its id finds it, and another agent can have its name');

export const noFields = z.object({});

const request = { params: noFields, query: noFields, status: 200 } as const;
/** The usual fields of an operation that reads or deletes. */
export const requestWithoutBody = { ...request, method: 'GET', body: z.undefined(), bodyBytes: 0 } as const;
export const requestWithBody = { ...request, method: 'POST', bodyBytes: maxRequestBodyBytes } as const;

/**
 * Clients choose a page by `cursor`; older clients choose it by `offset`. With `offset`, items that are added between two
 * requests can make an item appear on two pages. With `cursor`, they cannot.
 */
export const PagingParameters = {
  limit: z.coerce.number<number>().int().min(1).max(itemsPerPage.maximum).default(itemsPerPage.default),
  offset: z.coerce.number<number>().int().min(0).default(0),
  cursor: z.string().optional().describe('nextCursor of the previous page; offset is ignored then'),
};

/** The transports that a bot accepts, as in its `transport_params`: `webrtc`, `websocket`, `daily`, `twilio` and others. */
export const BotTransports = z
  .array(z.string())
  .nullable()
  .describe('The transports that the bot accepts, such as webrtc. Null while the service does not know them');
