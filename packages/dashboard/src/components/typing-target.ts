/** Returns whether a key press belongs to an input field, an open dialog or a menu, and must not trigger a shortcut. */
export function isTypingTarget(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.closest('input, textarea, select, dialog, [role=menu]') !== null)
  );
}
