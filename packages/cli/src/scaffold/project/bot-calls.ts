import type { Plan } from '../configuration/plan.ts';
import { type Code, code, nothing } from './code.ts';

/** Whether the bot rings somebody. */
export function dialsOut(plan: Plan): boolean {
  return plan.has('room-dial-out') || plan.has('bridged-dial-out');
}

/** Whether somebody rings the bot and so speaks as soon as the line is open. */
export function isRung(plan: Plan): boolean {
  return plan.has('stream') || plan.has('room-dial-in') || plan.has('bridged-dial-in');
}

/** Whether a client says when it is ready; evaluations do. */
export function hearsReady(plan: Plan): boolean {
  return plan.has('browser') || plan.configuration.enable_eval;
}

/** Whether sessions of one bot differ in who has to begin. */
export function mixesCallers(plan: Plan): boolean {
  return isRung(plan) && (hearsReady(plan) || dialsOut(plan));
}

/** Tells calls apart from other sessions, where a bot has both. */
export function callTest(plan: Plan): Code {
  if (!mixesCallers(plan)) return nothing;
  const stream = plan.has('stream');
  const key = plan.has('bridged-dial-in') ? 'call_sid' : plan.has('room-dial-in') ? 'dialin_settings' : null;
  return code(
    [
      'def is_phone_call(runner_args: RunnerArguments) -> bool:',
      '    """Tell a phone call, where the bot speaks first, from a client that reports when it is ready."""',
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

/** The request that makes the bot ring somebody, and the ringing. */
export function dialOut(plan: Plan): Code {
  if (!dialsOut(plan)) return nothing;
  const number = plan.has('room-dial-out');
  return code(
    [
      'class DialOut(BaseModel):',
      '    """Whom to call: `dialout_settings` in the body of the start request."""',
      '',
      ...(number ? ['    phone_number: str', '    caller_id: str | None = None'] : ['    sip_uri: str']),
      '',
      '    def settings(self) -> dict[str, str]:',
      '        """Return the callee in the format of the room."""',
      ...(number
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
      '    """Call as soon as the bot is in the room; try a few times if nobody can be reached."""',
      '    attempts = 0',
      '',
      '    async def ring() -> None:',
      '        nonlocal attempts',
      '        attempts += 1',
      '        logger.info(f"Ringing, attempt {attempts} of {DIAL_ATTEMPTS}")',
      '        _, error = await transport.start_dialout(callee.settings())',
      '        if error:',
      '            await failed(error)',
      '',
      '    async def failed(reason: object) -> None:',
      '        logger.warning(f"Could not reach the callee: {reason}")',
      '        if attempts < DIAL_ATTEMPTS:',
      '            await ring()',
      '        else:',
      '            await runner.cancel("nobody could be reached")',
      '',
      '    @transport.event_handler("on_joined")',
      '    async def on_joined(transport, data):',
      '        await ring()',
      '',
      '    @transport.event_handler("on_dialout_answered")',
      '    async def on_dialout_answered(transport, data):',
      '        # The callee speaks first, as people do when they answer a phone.',
      '        logger.info("The callee has answered")',
      '',
      '    @transport.event_handler("on_dialout_error")',
      '    async def on_dialout_error(transport, data):',
      '        await failed(data)',
    ],
    ['loguru', 'logger'],
    ['pydantic', 'BaseModel'],
    ['pipecat.transports.daily.transport', 'DailyTransport'],
    ['pipecat.workers.runner', 'WorkerRunner'],
  );
}

/** The call that a carrier holds while the bot gets its room ready, and its way into the room. */
export function bridge(plan: Plan): Code {
  if (!plan.has('bridged-dial-in')) return nothing;
  return code(
    [
      'class HeldCall(BaseModel):',
      '    """A call on hold at the carrier: server.py puts it into the body of the start request."""',
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
