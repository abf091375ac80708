import { type ApiError, createApiError, type PhoneCarrier, phoneCarrierTraits } from '@bothost/contract';
import { type CalledAgent, findCalledAgent } from '../agents/find.ts';
import { isUrlSecret } from '../agents/url-secret.ts';
import type { ServiceContext } from '../context.ts';
import { findOrganizationByPathName } from '../organizations/find.ts';
import { findProviderKey } from '../secrets/provider-key.ts';
import { startCall } from '../session-starts/start-call.ts';
import { type CallDocument, createCallDocument } from './call-documents.ts';
import { type CallRefusal, createCallRefusal } from './call-refusal.ts';
import { carrierProtocols, readCarrierCall } from './carriers.ts';
import { type AnswerRequest, splitAtQuery } from './signatures.ts';

type Context = Pick<ServiceContext, 'keyring' | 'urlSecretKey'> & Parameters<typeof startCall>[0];

/** A request for the call document of a call, and what its path names. */
export type CallToAnswer = {
  readonly carrier: PhoneCarrier;
  readonly organization: string;
  readonly agentName: string;
  /** The secret at the end of the path. Null if there is none. */
  readonly secret: string | null;
  readonly request: AnswerRequest;
};

/**
 * Answers a carrier's request for a call document: verifies where it comes from, creates the session of the call, and returns the
 * document that connects the call to the session.
 *
 * @throws failure `call-refused`, whose cause has the reason; `call-repeated`, `deployment-not-ready`, `shutting-down`,
 * `storage-full`; DamagedDataError, RootKeyMissingError
 */
export async function answerCall(context: Context, callRequest: CallToAnswer): Promise<CallDocument> {
  const { carrier, agentName, request } = callRequest;
  const organization = await findOrganizationByPathName(context.db, callRequest.organization);
  if (organization === null) throw createApiError('call-refused');
  const agent = await findCalledAgent(context.db, organization.id, agentName);
  if (agent === null) throw refuse('agent-unknown');
  const refusal = await findRefusal(context, callRequest, { organizationId: organization.id, agent });
  if (refusal !== null) throw refuse(refusal);
  const call = readCarrierCall(carrier, request);
  if (call === null) throw refuse('call-id-missing');
  const path = await startCall(context, { organization, agentName, carrier, callId: call.callId });
  return createCallDocument[carrier](request.serviceUrl.replace(/^http/, 'ws') + path, call);

  function refuse(reason: CallRefusal): ApiError {
    // The URL without its query and the secret, which must not be in a log.
    const [path] = splitAtQuery(request.target);
    const shown = callRequest.secret === null ? path : path.slice(0, path.lastIndexOf('/'));
    return createCallRefusal(reason, { carrier, agentName, url: request.serviceUrl + shown });
  }
}

async function findRefusal(
  context: Context,
  { carrier, secret, request }: CallToAnswer,
  called: { readonly organizationId: string; readonly agent: CalledAgent },
): Promise<CallRefusal | null> {
  const { verify, methods } = carrierProtocols[carrier];
  if (!methods.includes(request.method)) return 'method-wrong';
  const { hasUrlSecret } = phoneCarrierTraits[carrier];
  if (hasUrlSecret && !isUrlSecret(context.urlSecretKey, carrier, called.agent, secret ?? ''))
    return 'url-secret-wrong';
  if (verify === null) return null;
  const key = await findProviderKey(context, { organizationId: called.organizationId, provider: carrier });
  if (key === null) return 'carrier-not-connected';
  try {
    return verify(request, key.toString(), context.now());
  } finally {
    key.fill(0);
  }
}
