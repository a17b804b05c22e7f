import type { ComponentChildren } from 'preact';

export interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  type?: 'button' | 'submit';
  /**
   * `primary` for the main action of a page, `danger` for actions that cannot be undone, `plain` for buttons within
   * text.
   */
  variant?: 'primary' | 'normal' | 'danger' | 'plain';
  isBusy?: boolean;
  isDisabled?: boolean;
  /** The accessible name, where the visible text alone is ambiguous. */
  label?: string;
  /** The id of an element that says why it is disabled. */
  describedBy?: string;
}

/** A button. While it is busy it keeps the focus and ignores clicks. */
export function Button({
  children,
  onClick,
  type = 'button',
  variant = 'normal',
  isBusy,
  isDisabled,
  label,
  describedBy,
}: ButtonProps) {
  const isInactive = Boolean(isBusy || isDisabled);
  return (
    <button
      type={type}
      class={`button ${variant}`}
      aria-label={label}
      aria-describedby={describedBy}
      aria-disabled={isInactive}
      aria-busy={isBusy || undefined}
      onClick={(event) => {
        if (isInactive) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
    </button>
  );
}

export interface LinkButtonProps {
  children: ComponentChildren;
  href: string;
  variant?: ButtonProps['variant'];
}

/** A link that looks like a button. */
export function LinkButton({ children, href, variant = 'normal' }: LinkButtonProps) {
  return (
    <a class={`button ${variant}`} href={href}>
      {children}
    </a>
  );
}
