import type { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

interface MenuProps {
  /** What is on the button. */
  title: ComponentChildren;
  /** The accessible name of the panel. */
  label: string;
  isOpen: boolean;
  onToggle: (isOpen: boolean) => void;
  /** Puts the panel below the end of the button, for buttons at the right. */
  isAtEnd?: boolean;
  children: ComponentChildren;
}

/** A button with a panel below it, which closes by Escape and by a click outside of it. */
export function Menu({ title, label, isOpen, onToggle, isAtEnd, children }: MenuProps) {
  const id = useId();
  const root = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const panel = useRef<HTMLElement>(null);

  useEffect(() => {
    if (!isOpen) return;
    panel.current?.querySelector<HTMLElement>('input, select, textarea, button, a')?.focus();
    const closeOutside = ({ target }: Event) => {
      if (target instanceof Node && target.isConnected && !root.current?.contains(target)) onToggle(false);
    };
    document.addEventListener('pointerdown', closeOutside);
    document.addEventListener('focusin', closeOutside);
    return () => {
      document.removeEventListener('pointerdown', closeOutside);
      document.removeEventListener('focusin', closeOutside);
    };
  }, [isOpen]);

  function closeByEscape(event: KeyboardEvent) {
    if (event.key !== 'Escape' || !isOpen) return;
    event.stopPropagation();
    onToggle(false);
    button.current?.focus();
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only hears the Escape key of what is in it
    <div ref={root} class="menu" onKeyDown={closeByEscape}>
      <button
        ref={button}
        type="button"
        class="button"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={() => onToggle(!isOpen)}
      >
        {title}
      </button>
      {isOpen && (
        <section ref={panel} id={id} aria-label={label} class={isAtEnd ? 'menu-panel at-end' : 'menu-panel'}>
          {children}
        </section>
      )}
    </div>
  );
}
