import type { RTVIEvent } from '@pipecat-ai/client-js';

const eventWords: Readonly<Partial<Record<`${RTVIEvent}`, string>>> = {
  connected: 'Connected',
  disconnected: 'Disconnected',
  botStarted: 'Session started',
  botConnected: 'Bot connected',
  botReady: 'Bot ready',
  botDisconnected: 'Bot disconnected',
  error: 'Error',
  serverMessage: 'Message of the bot',
  serverResponse: 'Answer of the bot',
  messageError: 'Message refused',
  uiCommand: 'Command for the page',
  uiJobGroup: 'Jobs for the page',
  metrics: 'Metrics',
  botStartedSpeaking: 'Bot starts to speak',
  botStoppedSpeaking: 'Bot stops speaking',
  userStartedSpeaking: 'You start to speak',
  userStoppedSpeaking: 'You stop speaking',
  userMuteStarted: 'Bot stops listening',
  userMuteStopped: 'Bot listens again',
  userTranscript: 'What you said',
  botOutput: 'What the bot says',
  botTranscript: 'Transcript of the bot',
  userLlmText: 'Your text for the model',
  botLlmText: 'Text of the model',
  botLlmStarted: 'Model starts',
  botLlmStopped: 'Model stops',
  llmFunctionCall: 'Tool called',
  llmFunctionCallStarted: 'Tool call starts',
  llmFunctionCallInProgress: 'Tool runs',
  llmFunctionCallStopped: 'Tool ended',
  botLlmSearchResponse: 'Search results of the model',
  botTtsText: 'Text for the voice',
  botTtsStarted: 'Voice starts',
  botTtsStopped: 'Voice stops',
  participantConnected: 'Somebody joined',
  participantLeft: 'Somebody left',
  screenTrackStarted: 'Shared screen starts',
  screenTrackStopped: 'Shared screen stops',
  screenShareError: 'Screen cannot be shared',
  camUpdated: 'Camera changed',
  micUpdated: 'Microphone changed',
  speakerUpdated: 'Speaker changed',
  deviceError: 'Device error',
  unsupportedFeature: 'Not supported by the browser',
};

export function describeEvent(name: string, data: unknown): string {
  if (name === 'transportStateChanged' && typeof data === 'string') return `Connection: ${data}`;
  const words: Readonly<Record<string, string>> = eventWords;
  return words[name] ?? name;
}
