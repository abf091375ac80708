import type { ProjectPlan } from '../configuration/plan.ts';
import { createPythonCode, emptyPythonCode, type PythonCode } from './code.ts';

export function dialsOut(plan: ProjectPlan): boolean {
  return plan.has('room-dial-out') || plan.has('bridged-dial-out');
}

/** Returns whether people can call the bot by phone. In these calls, the bot speaks first. */
export function receivesCalls(plan: ProjectPlan): boolean {
  return plan.has('stream') || plan.has('room-dial-in') || plan.has('bridged-dial-in');
}

/**
 * Returns whether some sessions have a client that reports when it is ready, such as a browser or `pipecat eval`. A phone call
 * has no client that reports this.
 */
export function waitsForClient(plan: ProjectPlan): boolean {
  return plan.has('browser') || plan.configuration.enable_eval;
}

/**
 * Returns whether the bot has both incoming calls and other sessions. The code of such a bot must distinguish them: it greets
 * an incoming caller as soon as the call is connected, but does not greet at that time in other sessions.
 */
export function mustDistinguishIncomingCalls(plan: ProjectPlan): boolean {
  return receivesCalls(plan) && (waitsForClient(plan) || dialsOut(plan));
}

/** Generates the function `is_phone_call`. Empty unless the bot has both incoming calls and other sessions. */
export function generateIsPhoneCallCode(plan: ProjectPlan): PythonCode {
  if (!mustDistinguishIncomingCalls(plan)) return emptyPythonCode;
  const stream = plan.has('stream');
  const key = plan.has('bridged-dial-in') ? 'call_sid' : plan.has('room-dial-in') ? 'dialin_settings' : null;
  return createPythonCode(
    [
      'def is_phone_call(runner_args: RunnerArguments) -> bool:',
      '    """Whether this is a phone call: then the bot speaks first, without waiting for a client."""',
      ...(stream
        ? [
            '    if isinstance(runner_args, WebSocketRunnerArguments):',
            '        return runner_args.transport_type not in ("websocket", "eval")',
          ]
        : []),
      ...(key === null
        ? ['    return False']
        : key === 'call_sid'
          ? ['    return isinstance(runner_args.body, dict) and "call_sid" in runner_args.body']
          : [
              '    if isinstance(runner_args.body, DailyDialinRequest):',
              '        return True',
              '    return isinstance(runner_args.body, dict) and "dialin_settings" in runner_args.body',
            ]),
    ],
    ...(stream ? ([['pipecat.runner.types', 'WebSocketRunnerArguments']] as const) : []),
    ...(key === 'dialin_settings' ? ([['pipecat.runner.types', 'DailyDialinRequest']] as const) : []),
  );
}

/** Generates the class `DialOut`, a request to call somebody, and the function `dial`, which makes the call. */
export function generateDialOutCode(plan: ProjectPlan): PythonCode {
  if (!dialsOut(plan)) return emptyPythonCode;
  const byNumber = plan.has('room-dial-out');
  return createPythonCode(
    [
      'class DialOut(BaseModel):',
      '    """The person to call: `dialout_settings` in the body of the start request."""',
      '',
      ...(byNumber ? ['    phone_number: str', '    caller_id: str | None = None'] : ['    sip_uri: str']),
      '',
      '    def settings(self) -> dict[str, str]:',
      '        """Return the callee in the format of the room."""',
      ...(byNumber
        ? [
            '        settings = {"phoneNumber": self.phone_number}',
            '        if self.caller_id:',
            '            settings["callerId"] = self.caller_id',
            '        return settings',
          ]
        : ['        return {"sipUri": self.sip_uri}']),
      '',
      '',
      'def dial(transport: DailyTransport, callee: DialOut, runner: WorkerRunner) -> None:',
      '    """Call once the bot has joined the room; try again if the call fails."""',
      '    attempts = 0',
      '',
      '    async def call() -> None:',
      '        nonlocal attempts',
      '        attempts += 1',
      '        logger.info(f"Calling, attempt {attempts} of {DIAL_ATTEMPTS}")',
      '        _, error = await transport.start_dialout(callee.settings())',
      '        if error:',
      '            await retry(error)',
      '',
      '    async def retry(reason: object) -> None:',
      '        logger.warning(f"The call failed: {reason}")',
      '        if attempts < DIAL_ATTEMPTS:',
      '            await call()',
      '        else:',
      '            await runner.cancel("the call failed")',
      '',
      '    @transport.event_handler("on_joined")',
      '    async def on_joined(transport, data):',
      '        await call()',
      '',
      '    @transport.event_handler("on_dialout_answered")',
      '    async def on_dialout_answered(transport, data):',
      '        # The callee speaks first, as people do when they answer a phone.',
      '        logger.info("The callee has answered")',
      '',
      '    @transport.event_handler("on_dialout_error")',
      '    async def on_dialout_error(transport, data):',
      '        await retry(data)',
    ],
    ['loguru', 'logger'],
    ['pydantic', 'BaseModel'],
    ['pipecat.transports.daily.transport', 'DailyTransport'],
    ['pipecat.workers.runner', 'WorkerRunner'],
  );
}

/**
 * Generates the class `HeldCall`, a call that the carrier holds until the bot's room is ready, and the function `forward`, which
 * connects the call to the room.
 */
export function generateCallBridgeCode(plan: ProjectPlan): PythonCode {
  if (!plan.has('bridged-dial-in')) return emptyPythonCode;
  return createPythonCode(
    [
      'class HeldCall(BaseModel):',
      '    """A call on hold at the carrier: the body of the start request that server.py sends."""',
      '',
      '    call_sid: str',
      '    from_number: str',
      '',
      '',
      'async def connect_call(held: HeldCall, sip_endpoint: str) -> None:',
      '    """Tell the carrier to connect the call to the room."""',
      '    account = os.environ["TWILIO_ACCOUNT_SID"]',
      '    url = f"https://api.twilio.com/2010-04-01/Accounts/{account}/Calls/{held.call_sid}.json"',
      '    twiml = f"<Response><Dial><Sip>{escape(f\'sip:{sip_endpoint}\')}</Sip></Dial></Response>"',
      '    auth = aiohttp.BasicAuth(account, os.environ["TWILIO_AUTH_TOKEN"])',
      '    async with aiohttp.ClientSession(auth=auth) as carrier:',
      '        async with carrier.post(url, data={"Twiml": twiml}) as response:',
      '            response.raise_for_status()',
      '',
      '',
      'def forward(transport: DailyTransport, held: HeldCall, runner: WorkerRunner) -> None:',
      '    """Connect the call to the room as soon as the room is ready for it."""',
      '    forwarded = False',
      '',
      '    @transport.event_handler("on_dialin_ready")',
      '    async def on_dialin_ready(transport, sip_endpoint):',
      '        nonlocal forwarded',
      '        if forwarded:',
      '            return',
      '        forwarded = True',
      '        try:',
      '            await connect_call(held, sip_endpoint)',
      '        except aiohttp.ClientError as error:',
      '            logger.error(f"The carrier could not connect the call: {error}")',
      '            await runner.cancel("the call could not be connected")',
      '',
      '    @transport.event_handler("on_dialin_error")',
      '    async def on_dialin_error(transport, data):',
      '        logger.error(f"The call failed: {data}")',
      '        await runner.cancel("the call failed")',
    ],
    ['os'],
    ['aiohttp'],
    ['loguru', 'logger'],
    ['pydantic', 'BaseModel'],
    ['xml.sax.saxutils', 'escape'],
    ['pipecat.transports.daily.transport', 'DailyTransport'],
    ['pipecat.workers.runner', 'WorkerRunner'],
  );
}
