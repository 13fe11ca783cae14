import java.io.FileInputStream;
import org.verapdf.gf.foundry.VeraGreenfieldFoundryProvider;
import org.verapdf.pdfa.Foundries;
import org.verapdf.pdfa.flavours.PDFAFlavour;
import org.verapdf.pdfa.results.TestAssertion;

/** Checks files against a flavour (2a, ua1) with veraPDF; prints every rule that one breaks. */
public class Conformance {
    public static void main(String[] names) throws Exception {
        VeraGreenfieldFoundryProvider.initialise();
        PDFAFlavour flavour = PDFAFlavour.fromString(names[0]);
        for (int n = 1; n < names.length; n++) {
            try (var parser = Foundries.defaultInstance().createParser(
                     new FileInputStream(names[n]), flavour);
                 var validator = Foundries.defaultInstance().createValidator(
                     flavour, 50, false, false, false)) {
                var result = validator.validate(parser);
                System.out.println((result.isCompliant() ? "valid " : "broken ")
                    + flavour + " " + names[n]);
                for (TestAssertion found : result.getTestAssertions())
                    if (found.getStatus() == TestAssertion.Status.FAILED)
                        System.out.println("  " + found.getRuleId().getClause() + "-"
                            + found.getRuleId().getTestNumber() + " " + found.getMessage()
                            + " @ " + found.getLocation().getContext());
            }
        }
    }
}
