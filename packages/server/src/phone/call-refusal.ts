import { type ApiError, createApiError, type PhoneCarrier, phoneCarrierTraits } from '@bothost/contract';

/** Why a request of a carrier was refused. The response does not say it: only who may see the agent's log learns it. */
export type CallRefusal =
  | 'agent-unknown'
  | 'carrier-not-connected'
  | 'signature-missing'
  | 'signature-wrong'
  | 'request-too-old'
  | 'url-secret-wrong'
  | 'method-wrong'
  | 'call-id-missing';

/** What the message about a refused call names. `url` is the URL that the carrier requested. */
type RefusedRequest = { readonly carrier: PhoneCarrier; readonly agentName: string; readonly url: string };

/** The cause of a failure `call-refused`. Its message is for the person who set up the carrier. */
export class CallRefusedError extends Error {
  override readonly name = 'CallRefusedError';
  readonly refusal: CallRefusal;
  constructor(refusal: CallRefusal, request: RefusedRequest) {
    super(describe(refusal, request));
    this.refusal = refusal;
  }
}

/** Creates a failure that is the same for every refusal, so that a response reveals neither agents nor organizations. */
export function createCallRefusal(refusal: CallRefusal, request: RefusedRequest): ApiError {
  return createApiError('call-refused', { cause: new CallRefusedError(refusal, request) });
}

/** Says what was wrong with the request of a carrier, and what to do. */
function describe(refusal: CallRefusal, { carrier, agentName, url }: RefusedRequest): string {
  const { label, credential, method } = phoneCarrierTraits[carrier];
  const name = credential?.name ?? 'credential';
  switch (refusal) {
    case 'agent-unknown':
      return `The URL names the agent ${agentName}, which does not exist. Correct the URL at ${label}.`;
    case 'carrier-not-connected':
      return `The ${name} of ${label} is not stored, so the signature cannot be verified. Run: botcli cloud phone connect ${carrier}`;
    case 'signature-missing':
      return `The request has no signature of ${label}, so it did not come from ${label}.`;
    case 'signature-wrong':
      return `The signature is wrong. Check that the stored ${name} is that of the account with the number (botcli cloud phone connect ${carrier}), and that the URL at ${label} begins with ${url}`;
    case 'request-too-old':
      return `The request was signed more than 5 minutes ago. If ${label} sent it now, correct the clock of the service.`;
    case 'url-secret-wrong':
      return `The secret at the end of the URL is missing or wrong. Copy the URL again: botcli cloud phone ${agentName}`;
    case 'method-wrong':
      return `${label} must send a ${method} request, because its signature does not cover the query of the URL.`;
    case 'call-id-missing':
      return `The request has no id of a call, so it does not announce a call.`;
  }
}
