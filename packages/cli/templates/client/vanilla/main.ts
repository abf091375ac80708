import './style.css';
import { name } from './config';
import { type ConversationState, createConversation, type TranscriptLine } from './conversation';
import { getHint, getMainButtonLabel, isConversationOpen, phaseLabels } from './phases';
import { entryPoints } from './transports';

const conversation = createConversation();
const root = find(document, '#talk', HTMLElement);
const parts = {
  phase: find(root, '.phase', HTMLElement),
  face: find(root, '.face', HTMLElement),
  video: find(root, 'video', HTMLVideoElement),
  lines: find(root, 'ol', HTMLOListElement),
  error: find(root, '.error', HTMLElement),
  hint: find(root, '.hint', HTMLElement),
  main: find(root, 'button.main', HTMLButtonElement),
  microphone: find(root, 'button.microphone', HTMLButtonElement),
  entries: find(root, 'select', HTMLSelectElement),
};

find(root, 'h1', HTMLElement).textContent = name;
document.title = name;
parts.entries.append(...entryPoints.map((entry, index) => new Option(entry.label, String(index))));
parts.main.addEventListener('click', () => {
  if (isConversationOpen(conversation.state())) void conversation.stop();
  else void conversation.start(entryPoints[Number(parts.entries.value)] ?? entryPoints[0]);
});
parts.microphone.addEventListener('click', () => {
  conversation.setMicrophone(!conversation.state().microphone);
});
conversation.subscribe(() => show(conversation.state()));
show(conversation.state());

function show(state: ConversationState): void {
  const open = isConversationOpen(state);
  root.dataset.phase = state.phase;
  parts.phase.textContent = phaseLabels[state.phase];
  parts.face.dataset.speaking = state.speaking;
  parts.face.hidden = state.video !== null;
  showVideo(state.video);
  parts.lines.replaceChildren(...state.lines.map(lineElement));
  parts.lines.scrollTop = parts.lines.scrollHeight;
  parts.error.textContent = state.error ?? '';
  parts.hint.textContent = state.error === null && state.lines.length === 0 ? getHint(state) : '';
  parts.main.dataset.open = String(open);
  parts.main.textContent = getMainButtonLabel(state);
  parts.microphone.textContent = state.microphone ? 'Mute' : 'Unmute';
  parts.microphone.hidden = state.phase !== 'talking';
  parts.entries.hidden = open || entryPoints.length < 2;
}

function showVideo(track: MediaStreamTrack | null): void {
  parts.video.hidden = track === null;
  const shown = parts.video.srcObject instanceof MediaStream ? parts.video.srcObject : null;
  if (shown?.getVideoTracks()[0] === (track ?? undefined)) return;
  parts.video.srcObject = track === null ? null : new MediaStream([track]);
}

function lineElement({ who, text }: TranscriptLine): HTMLLIElement {
  const element = document.createElement('li');
  element.dataset.who = who;
  element.textContent = text;
  return element;
}

function find<Kind extends Element>(
  within: ParentNode,
  selector: string,
  kind: new () => Kind,
): Kind {
  const element = within.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`The page has no element ${selector}.`);
  return element;
}
