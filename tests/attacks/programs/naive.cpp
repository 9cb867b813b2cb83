// Attacks on a checker that prints the program's first line as the score.
//
// group: forging
// problem: naive
#include "text.h"

static void print(const char *text) {
    dprintf(1, "%s\n", text);
    _exit(0);
}

// attack: score_nan
// tries: a score that is not a number
// expect: JE:checker
ATTACK(score_nan) { print("nan"); }

// attack: score_minus_nan
// tries: the same with a sign and a payload
// expect: JE:checker
ATTACK(score_minus_nan) { print("-nan(0x1)"); }

// attack: score_infinity
// tries: an infinite score
// expect: JE:checker
ATTACK(score_infinity) { print("inf"); }

// attack: score_thousand
// tries: a score of 1000
// expect: JE:checker
ATTACK(score_thousand) { print("1000"); }

// attack: score_negative
// tries: a negative score
// expect: JE:checker
ATTACK(score_negative) { print("-1"); }

// attack: score_just_above_one
// tries: a score that rounds to 1 from above
// expect: JE:checker
ATTACK(score_just_above_one) { print("1.0000001"); }

// attack: score_hexadecimal
// tries: a score in hexadecimal
// expect: JE:checker
ATTACK(score_hexadecimal) { print("0x1p0"); }

// attack: score_with_words
// tries: a score with more behind it
// expect: JE:checker
ATTACK(score_with_words) { print("1 0.5 AC"); }

// attack: score_with_comma
// tries: a score with a decimal comma
// expect: JE:checker
ATTACK(score_with_comma) { print("0,9"); }

// attack: score_huge_exponent
// tries: a score whose exponent overflows
// expect: JE:checker
ATTACK(score_huge_exponent) { print("1e999999999999"); }

// attack: score_of_many_digits
// tries: a score of 5,000 digits
// expect: JE:checker
ATTACK(score_of_many_digits) { print(("1" + std::string(5000, '0')).c_str()); }

// attack: score_nearly_one
// tries: a score that rounds to 1, to be counted as solved
// expect: PA
ATTACK(score_nearly_one) { print("0.9999"); }

// attack: score_one_minus_epsilon
// tries: the largest number below 1
// expect: PA
ATTACK(score_one_minus_epsilon) { print("0.99999999999999988"); }

// attack: score_empty
// tries: no score at all
// expect: JE:checker
ATTACK(score_empty) { print(""); }

// attack: score_minus_zero
// tries: a zero that is less than zero
// expect: WA JE:checker
ATTACK(score_minus_zero) { print("-0.0"); }

// attack: score_with_nul
// tries: a score with a NUL byte behind it
// expect: JE:checker
ATTACK(score_with_nul) {
    if (write(1, "1\0nan\n", 6) < 0) _exit(1);
    _exit(0);
}

// attack: score_in_json
// tries: a score that closes the judge's JSON
// expect: JE:checker
ATTACK(score_in_json) { print("1\",\"verdict\":\"AC\",\"x\":\""); }
