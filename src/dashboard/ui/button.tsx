import type { ComponentChildren } from 'preact';

export interface ButtonProps {
  children: ComponentChildren;
  onClick?: () => void;
  type?: 'button' | 'submit';
  /** `primary`: what one came for; `danger`: can't be undone; `plain`: beside text. */
  variant?: 'primary' | 'normal' | 'danger' | 'plain';
  isBusy?: boolean;
  isDisabled?: boolean;
  /** What a screen reader says where the text alone would not tell. */
  label?: string;
}

/** A button. While it is busy it stays where it is, and can't be pressed again. */
export function Button({
  children,
  onClick,
  type = 'button',
  variant = 'normal',
  isBusy,
  isDisabled,
  label,
}: ButtonProps) {
  const isInactive = Boolean(isBusy || isDisabled);
  return (
    <button
      type={type}
      class={`button ${variant}`}
      aria-label={label}
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

/** A link to another place that looks like a button. */
export function LinkButton({ children, href, variant = 'normal' }: LinkButtonProps) {
  return (
    <a class={`button ${variant}`} href={href}>
      {children}
    </a>
  );
}
